// SPDX-License-Identifier: BSD-2-Clause
plugins {
    id("com.android.application") version "8.7.0"
    kotlin("android") version "2.0.21"
}

android {
    namespace = "dev.taper.imagesegmentation"
    compileSdk = 36
    defaultConfig {
        applicationId = "dev.taper.imagesegmentation"
        minSdk = 21
        targetSdk = 36
        versionCode = 1
        versionName = "1.0"
    }
    buildTypes {
        release { isMinifyEnabled = true } // the AAR contains the rules
    }
    sourceSets["main"].apply {
        manifest.srcFile("AndroidManifest.xml")
        kotlin.srcDirs("src")
        assets.srcDirs(layout.buildDirectory.dir("model"))
    }
    androidResources { noCompress += "ptl" }
}

// The model and the picture are those of the demo.
val model by tasks.registering(Copy::class) {
    from("../../demo/segmenter.ptl")
    from("../../demo/images/lake.jpg") { rename { "image.jpg" } }
    into(layout.buildDirectory.dir("model"))
}
tasks.named("preBuild") { dependsOn(model) }

dependencies {
    implementation("dev.taper:pytorch_android_lite:0.2.0")
    implementation("dev.taper:pytorch_android_torchvision_lite:0.2.0")
}
