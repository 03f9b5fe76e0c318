// SPDX-License-Identifier: BSD-2-Clause
// For those who have Gradle and the Android SDK; ./dev android --apps builds without.
pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
}
dependencyResolutionManagement {
    repositories {
        maven { url = uri("../../build/android/repository") } // what ./dev android made
        google()
        mavenCentral()
    }
}
rootProject.name = "taper-examples"
include(":HelloWorld", ":ImageSegmentation")
