# SPDX-License-Identifier: BSD-2-Clause
"""Pictures: decoding and resizing equal PIL's to the bit; damaged ones are refused."""
import io
import os
import struct
import sys
import zlib

from toolcase import BIN, DEMO, ToolCase, main, np

try:
    from PIL import Image, ImageOps
except ImportError:
    sys.exit(77)

RANDOM = np.random.default_rng(1)


def noise(mode, width, height):
    channels = len(Image.new(mode, (1, 1)).getbands())
    shape = (height, width) if channels == 1 else (height, width, channels)
    return Image.fromarray(RANDOM.integers(0, 256, shape, dtype=np.uint8), mode)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, color, rows, extra=b"", interlace=0):
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    chunks = chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


class Pictures(ToolCase):
    def probe(self, path, *size):
        self.call(path, "out.raw", *size, program="image_probe")
        return np.fromfile(self.path("out.raw"), np.uint8)

    def same(self, path):
        with Image.open(path) as picture:
            turned = ImageOps.exif_transpose(picture).convert("RGB")
            np.testing.assert_array_equal(self.probe(path), np.asarray(turned).ravel())

    def test_png_modes(self):
        for mode in ["L", "LA", "RGB", "RGBA"]:
            with self.subTest(mode):
                noise(mode, 37, 23).save(self.path("a.png"))
                self.same(self.path("a.png"))
        noise("L", 37, 23).convert("1").save(self.path("a.png"))
        self.same(self.path("a.png"))
        palette = noise("RGB", 37, 23).quantize(200)
        palette.save(self.path("a.png"))
        self.same(self.path("a.png"))
        palette.save(self.path("a.png"), transparency=3)
        self.same(self.path("a.png"))
        noise("RGB", 37, 23).quantize(3).save(self.path("a.png"), bits=2)
        self.same(self.path("a.png"))
        noise("RGB", 37, 23).save(self.path("a.png"), transparency=(1, 2, 3))
        self.same(self.path("a.png"))

    def test_png_depths(self):
        def rows(count):
            return b"".join(b"\0" + RANDOM.bytes(count) for _ in range(5))
        for depth, color, row in [(1, 0, 2), (2, 0, 3), (4, 0, 6), (16, 2, 66), (16, 6, 88), (8, 4, 22)]:
            with self.subTest((depth, color)):
                self.same(self.write("a.png", png(11, 5, depth, color, rows(row))))
        gray = rows(22)  # 16 bits of grey keep their high byte
        self.write("a.png", png(11, 5, 16, 0, gray))
        high = np.frombuffer(gray, np.uint8).reshape(5, 23)[:, 1::2]
        np.testing.assert_array_equal(self.probe("a.png").reshape(5, 11, 3), np.repeat(high[:, :, None], 3, 2))

    def test_png_interlaced(self):
        # Adam7: the passes of a 5 x 3 grey picture
        passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
        data = b""
        for x, y, dx, dy in passes:
            width, height = len(range(x, 5, dx)), len(range(y, 3, dy))
            data += b"".join(b"\0" + RANDOM.bytes(width) for _ in range(height)) if width else b""
        self.same(self.write("a.png", png(5, 3, 8, 0, data, interlace=1)))

    def test_jpeg_modes(self):
        smooth = noise("RGB", 12, 9).resize((101, 67), Image.Resampling.BICUBIC)
        for mode in ["L", "RGB", "CMYK"]:
            for options in [{}, {"quality": 30}, {"progressive": True}, {"subsampling": 0}]:
                with self.subTest((mode, options)):
                    smooth.convert(mode).save(self.path("a.jpg"), **options)
                    self.same(self.path("a.jpg"))

    def test_orientation(self):
        for orientation in range(10):
            for order in ["<", ">"]:
                exif = Image.Exif()
                exif.endian = order
                exif[0x10F] = "maker"
                exif[0x112] = orientation
                for name, options in (("a.jpg", {"quality": 90}), ("a.png", {})):
                    with self.subTest((orientation, order, name)):
                        noise("RGB", 20, 10).save(self.path(name), exif=exif, **options)
                        self.same(self.path(name))
        # Turned by hand, so that it is not PIL's own doing alone.
        noise("RGB", 20, 10).save(self.path("plain.png"))
        exif = Image.Exif()
        exif[0x112] = 6
        with Image.open(self.path("plain.png")) as plain:
            plain.save(self.path("a.png"), exif=exif)
        plain = self.probe("plain.png").reshape(10, 20, 3)
        np.testing.assert_array_equal(self.probe("a.png").reshape(20, 10, 3), np.rot90(plain, -1))

    def test_damaged_orientation(self):
        smooth = noise("RGB", 20, 10)
        exif = Image.Exif()
        exif[0x112] = 6
        good = exif.tobytes()
        for length in range(6, len(good)):  # cut off anywhere, and with any one byte changed
            smooth.save(self.path("a.jpg"), exif=good[:length])
            self.probe("a.jpg")
        for at in range(6, len(good)):
            smooth.save(self.path("a.jpg"), exif=good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1:])
            self.probe("a.jpg")

    def test_demo_pictures(self):
        for name in os.listdir(os.path.join(DEMO, "images")):
            self.same(os.path.join(DEMO, "images", name))

    def test_resize(self):
        for width, height in [(1, 1), (7, 5), (64, 48), (131, 97), (300, 2), (3, 200)]:
            picture = noise("RGB", width, height)
            picture.save(self.path("a.png"))
            for size in [(1, 1), (2, 3), (7, 5), (64, 48), (63, 49), (100, 40), (96, 96), (224, 224), (7, 300),
                         (400, 5)]:
                with self.subTest((width, height, size)):
                    expected = np.asarray(picture.resize(size, Image.Resampling.BILINEAR)).ravel()
                    np.testing.assert_array_equal(self.probe("a.png", *size), expected)

    def test_damaged(self):
        buffer = io.BytesIO()
        noise("RGB", 64, 64).save(buffer, "PNG")
        good_png = buffer.getvalue()
        buffer = io.BytesIO()
        noise("RGB", 64, 64).save(buffer, "JPEG")
        good_jpeg = buffer.getvalue()
        huge = png(1 << 20, 1 << 20, 8, 2, b"")
        wide = b"\xff\xd8\xff\xc0\x00\x11\x08\xff\xff\xff\xff\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00"
        wide += b"\xff\xda\x00\x0c\x03\x01\x00\x02\x00\x03\x00\x00\x3f\x00"
        cases = [b"", b"GIF89a", good_png[:8], good_png[:20], good_png[:200], good_png[:-30], good_jpeg[:3],
                 good_jpeg[:100],
                 good_jpeg[:len(good_jpeg) // 2], huge, wide, good_png[:60] + b"\0" * 20 + good_png[80:],
                 png(8, 8, 8, 3, b"\0" * 72), png(8, 8, 3, 2, b"")]
        for number, case in enumerate(cases):
            with self.subTest(number):
                done = self.call(self.write("a.bin", case), "out.raw", program="image_probe", status=1)
                self.assertTrue(done.stderr.startswith("taper: error: "), done.stderr)

    def test_any_damage_is_survived(self):
        for kind in ["PNG", "JPEG"]:
            buffer = io.BytesIO()
            noise("RGB", 24, 24).save(buffer, kind)
            for _ in range(60):
                data = bytearray(buffer.getvalue())
                for at in RANDOM.integers(0, len(data), 3):
                    data[at] = RANDOM.integers(256)
                self.write("a.bin", bytes(data))
                import subprocess
                done = subprocess.run([os.path.join(BIN, "image_probe"), self.path("a.bin"), self.path("out.raw")],
                                      capture_output=True, timeout=60)
                self.assertIn(done.returncode, (0, 1), done.stderr)


if __name__ == "__main__":
    main()
