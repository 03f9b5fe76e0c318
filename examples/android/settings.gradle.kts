// SPDX-License-Identifier: BSD-2-Clause
// For builds with Gradle and the Android SDK; ./dev android --apps builds without them.
pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
}
dependencyResolutionManagement {
    repositories {
        maven { url = uri("../../build/android/repository") } // made by ./dev android
        google()
        mavenCentral()
    }
}
rootProject.name = "taper-examples"
include(":HelloWorld", ":ImageSegmentation")
