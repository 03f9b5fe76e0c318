// SPDX-License-Identifier: BSD-2-Clause
package dev.taper.imagesegmentation

import android.app.Activity
import android.content.Context
import android.graphics.Bitmap
import android.graphics.BitmapFactory
import android.os.Bundle
import android.widget.Button
import android.widget.ImageView
import android.widget.LinearLayout
import java.io.File
import org.pytorch.IValue
import org.pytorch.LiteModuleLoader
import org.pytorch.Module
import org.pytorch.torchvision.TensorImageUtils

/** Segments a picture with DeepLabV3 and shows each pixel in the colour of its class. */
class MainActivity : Activity() {
    private var module: Module? = null

    override fun onCreate(savedInstanceState: Bundle?) {
        super.onCreate(savedInstanceState)
        val bitmap = assets.open("image.jpg").use { BitmapFactory.decodeStream(it) }
        val image = ImageView(this)
        image.setImageBitmap(bitmap)
        val button = Button(this)
        button.text = "Segment"
        button.setOnClickListener {
            button.isEnabled = false
            Thread {
                val segmented = segment(bitmap)
                runOnUiThread {
                    image.setImageBitmap(segmented)
                    button.isEnabled = true
                }
            }.start()
        }
        val rows = LinearLayout(this)
        rows.orientation = LinearLayout.VERTICAL
        rows.addView(image, LinearLayout.LayoutParams.MATCH_PARENT, LinearLayout.LayoutParams.WRAP_CONTENT)
        rows.addView(button)
        setContentView(rows)
    }

    override fun onDestroy() {
        module?.destroy()
        super.onDestroy()
    }

    private fun segment(bitmap: Bitmap): Bitmap {
        val loaded = module ?: LiteModuleLoader.load(assetFilePath(this, "segmenter.ptl")).also { module = it }
        return Segmentation.of(loaded, bitmap)
    }

    companion object {
        /** Returns the path of a file with the contents of an asset. */
        fun assetFilePath(context: Context, name: String): String {
            val file = File(context.filesDir, name)
            context.assets.open(name).use { input -> file.outputStream().use { input.copyTo(it, 4 * 1024) } }
            return file.absolutePath
        }
    }
}

object Segmentation {
    private const val SIDE = 192
    private val COLORS = intArrayOf(
        0x000000, 0xff9f1c, 0xffd60a, 0x9b5de5, 0xf15bb5, 0x2ec27e, 0xc6ff00, 0xfb5607, 0xe01e5a, 0x3a86ff, 0x00e5ff
    )

    fun of(module: Module, bitmap: Bitmap): Bitmap {
        val scaled = Bitmap.createScaledBitmap(bitmap, SIDE, SIDE, true)
        val input = TensorImageUtils.bitmapToFloat32Tensor(
            scaled, TensorImageUtils.TORCHVISION_NORM_MEAN_RGB, TensorImageUtils.TORCHVISION_NORM_STD_RGB
        )
        val out = module.forward(IValue.from(input)).toDictStringKey()["out"]!!.toTensor()
        val height = out.shape()[2].toInt()
        val width = out.shape()[3].toInt()
        val colors = best(out.dataAsFloatArray, out.shape()[1].toInt(), width * height)
        val result = Bitmap.createBitmap(width, height, Bitmap.Config.ARGB_8888)
        result.setPixels(colors, 0, width, 0, 0, width, height)
        return Bitmap.createScaledBitmap(result, bitmap.width, bitmap.height, true)
    }

    /** Returns for each pixel the colour of the class with the highest of the scores [classes, pixels]. */
    private fun best(scores: FloatArray, classes: Int, pixels: Int): IntArray = IntArray(pixels) { pixel ->
        var best = 0
        for (c in 1 until classes) {
            if (scores[c * pixels + pixel] > scores[best * pixels + pixel]) {
                best = c
            }
        }
        COLORS[best] or (0xff shl 24)
    }
}
