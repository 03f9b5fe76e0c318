// SPDX-License-Identifier: BSD-2-Clause
package dev.taper.helloworld;

/** The names of the model's classes, in the order of its scores. */
final class Classes {
  static final String[] NAMES = {
    "dog",
    "cat",
    "panda",
    "penguin",
    "owl",
    "fish",
    "butterfly",
    "tree",
    "sunflower",
    "mushroom",
    "pizza",
    "burger",
    "ice cream",
    "strawberry",
    "banana",
    "car",
    "bicycle",
    "airplane",
    "rocket",
    "guitar",
  };

  private Classes() {}
}
