# SPDX-License-Identifier: BSD-2-Clause
"""Tests the reading of pictures: decoding and resizing are bit-identical to PIL; damaged pictures are refused, and no picture exceeds the limits of
memory."""
import io
import os
import struct
import subprocess
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
    chunks = chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def png_rows(pixels):
    height, width, channels = pixels.shape
    return np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, width * channels)], 1).tobytes()


def segments(jpeg):
    """Returns the offsets of the marker segments before the first scan's data, and the offset of that data."""
    at, found = 2, []
    while not found or jpeg[found[-1] + 1] != 0xDA:
        found.append(at)
        at += 2 + struct.unpack(">H", jpeg[at + 2:at + 4])[0]
    return found, at


def jpeg_that_says(width, height, progressive=False, scans=1):
    """Returns a few thousand bytes: a small file's header with other sizes, whose scans end before they begin."""
    buffer = io.BytesIO()
    noise("RGB", 16, 16).save(buffer, "JPEG", progressive=progressive)
    jpeg = bytearray(buffer.getvalue())
    found, data = segments(jpeg)
    for at in found:
        if jpeg[at + 1] in (0xC0, 0xC2):
            jpeg[at + 5:at + 9] = struct.pack(">HH", height, width)
    scan = bytes(jpeg[found[-1]:data])
    return bytes(jpeg[:data]) + b"\0" * 16 + scan * (scans - 1) + b"\xff\xd9"


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
        gray = rows(22)  # the expected value of a grey pixel of 16 bits is its high byte
        self.write("a.png", png(11, 5, 16, 0, gray))
        high = np.frombuffer(gray, np.uint8).reshape(5, 23)[:, 1::2]
        np.testing.assert_array_equal(self.probe("a.png").reshape(5, 11, 3), np.repeat(high[:, :, None], 3, 2))

    def test_png_interlaced(self):
        # Adam7: the passes of a 5 x 3 grey picture
        data = b""
        for x, y, dx, dy in ADAM7:
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
        # The expected picture is rotated by hand, because a rotation by PIL would compare PIL with itself.
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
        for length in range(6, len(good)):  # the data is cut off at each place, and each byte is changed
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
                done = subprocess.run([os.path.join(BIN, "image_probe"), self.path("a.bin"), self.path("out.raw")],
                                      capture_output=True, timeout=60)
                self.assertIn(done.returncode, (0, 1), done.stderr)

    def measure(self, *arguments):
        """Returns the exit status, stderr and peak memory in MiB of a program."""
        # The measured memory of a child is at least its parent's, so a small process starts the program.
        starter = ("import resource, subprocess, sys\n"
                   "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=120)\n"
                   "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.stderr)")
        done = subprocess.run([sys.executable, "-c", starter, os.path.join(BIN, "taper"), *map(str, arguments)],
                              capture_output=True, text=True, cwd=self.folder.name, timeout=150)
        status, kilobytes, said = done.stdout.split(" ", 2)
        return int(status), said, int(kilobytes) / 1024

    def test_a_small_file_that_says_it_is_huge(self):
        model = os.path.join(DEMO, "classifier.pt")
        idle = self.measure("classify", model, os.path.join(DEMO, "images", sorted(os.listdir(os.path.join(DEMO, "images")))[0]))[2]
        self.write("huge.jpg", jpeg_that_says(16384, 16384))
        self.write("waves.jpg", jpeg_that_says(16384, 16384, progressive=True))
        rows = zlib.compressobj(9)
        data = b"".join(rows.compress(bytes(2049)) for _ in range(16384)) + rows.flush()
        header = struct.pack(">IIBBBBB", 16384, 16384, 1, 0, 0, 0, 0)
        self.write("huge.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b""))
        for name in ("huge.jpg", "waves.jpg", "huge.png"):
            for verb in (["classify", model, name], ["segment", model, name, "-o", "mask.png"],
                         ["run", model, "-i", name], ["bench", model, "-i", name]):
                with self.subTest((name, verb[0])):
                    status, said, memory = self.measure(*verb)
                    self.assertEqual(status, 1)
                    self.assertIn(f"{name}: a picture of 16384x16384: up to 134 million pixels are read; --load-pixels 269 "
                                  "allows more", said)
                    self.assertLess(memory, idle + 64)
        for name in ("huge.jpg", "huge.png"):  # these pictures are decoded at the needed size
            with self.subTest(name):
                status, said, memory = self.measure("classify", model, name, "--load-pixels", 269)
                self.assertEqual(status, 0, said)
                self.assertLess(memory, idle + 128)  # the limit is far below 805 MB, which decoding all pixels would need
        done = self.call("classify", model, "huge.jpg", "--load-pixels", 269)
        self.assertIn("huge.jpg  16384x16384, ", done.stdout)

    def test_progressive_files_have_a_limit(self):
        model = os.path.join(DEMO, "classifier.pt")
        self.write("memory.jpg", jpeg_that_says(11584, 11584, progressive=True))
        self.call("classify", model, "memory.jpg")
        buffer = io.BytesIO()
        noise("RGB", 16, 16).save(buffer, "JPEG", progressive=True, subsampling=0)
        status, said, memory = self.measure("classify", model, self.write("all.jpg", self.enlarged(buffer.getvalue(), 11584)))
        self.assertEqual((status, "a progressive JPEG of 11584x11584 takes 767 MiB to decode; --load-pixels 269 allows it" in said),
                         (1, True), said)
        self.assertLess(memory, 300)
        status, said, _ = self.measure("classify", model, self.write("scans.jpg", jpeg_that_says(8192, 8192, True, 2000)))
        self.assertEqual((status, "with more than 32 scans" in said), (1, True), said)
        self.write("scans.jpg", jpeg_that_says(64, 64, True, 40))
        self.call("classify", model, "scans.jpg")

    @staticmethod
    def enlarged(jpeg, side):
        jpeg = bytearray(jpeg)
        for at in segments(jpeg)[0]:
            if jpeg[at + 1] in (0xC0, 0xC2):
                jpeg[at + 5:at + 9] = struct.pack(">HH", side, side)
        return bytes(jpeg)

    def test_texts_in_a_picture_are_not_unpacked(self):
        text = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(8000000)))
        self.write("texts.png", png(8, 8, 8, 0, b"\0" * 72, extra=text * 100))
        status, said, memory = self.measure("classify", os.path.join(DEMO, "classifier.pt"), "texts.png")
        self.assertEqual(status, 0, said)
        self.assertLess(memory, 400)

    def test_much_larger_than_needed(self):
        pixels = RANDOM.integers(0, 256, (4001, 4203, 3), dtype=np.uint8)  # sides that are no multiples of 4, by which the picture is reduced
        picture = Image.fromarray(pixels)
        sums = np.add.reduceat(np.add.reduceat(pixels.astype(int), range(0, 4001, 4), 0), range(0, 4203, 4), 1)
        counts = np.minimum(4, 4001 - np.arange(0, 4001, 4))[:, None] * np.minimum(4, 4203 - np.arange(0, 4203, 4))
        expected = ((sums + counts[:, :, None] // 2) // counts[:, :, None]).astype(np.uint8).ravel()
        self.write("a.png", png(4203, 4001, 8, 2, png_rows(pixels)))
        np.testing.assert_array_equal(self.probe("a.png", 0, 0, 250), expected)
        data = b"".join(png_rows(np.ascontiguousarray(pixels[y::dy, x::dx])) for x, y, dx, dy in ADAM7)
        self.write("a.png", png(4203, 4001, 8, 2, data, interlace=1))
        np.testing.assert_array_equal(self.probe("a.png", 0, 0, 250), expected)
        for needed, divisor in ((0, 1), (501, 1), (500, 2), (250, 4), (125, 8), (1, 8)):
            with self.subTest(needed):
                size = -(-4203 // divisor) * -(-4001 // divisor) * 3
                self.assertEqual(len(self.probe("a.png", 0, 0, needed)), size)
        picture.save(self.path("a.jpg"), quality=80)
        for divisor, needed in ((2, 500), (4, 250), (8, 125)):
            with self.subTest(divisor), Image.open(self.path("a.jpg")) as smaller:
                smaller.draft("RGB", (4203 // divisor, 4001 // divisor))
                np.testing.assert_array_equal(self.probe("a.jpg", 0, 0, needed), np.asarray(smaller).ravel())

    def test_photos_keep_their_bits(self):
        pixels = RANDOM.integers(0, 256, (375, 500, 3), dtype=np.uint8)
        photo = Image.fromarray(pixels).resize((4000, 3000), Image.Resampling.BICUBIC)  # 12 million pixels
        for name in ("a.jpg", "a.png"):
            photo.save(self.path(name), **({"quality": 90} if name == "a.jpg" else {"compress_level": 1}))
            with Image.open(self.path(name)) as read:
                np.testing.assert_array_equal(self.probe(name, 0, 0, 224), np.asarray(read).ravel())

    def test_pipes_are_no_pictures(self):
        model = os.path.join(DEMO, "classifier.pt")
        os.mkdir(self.path("folder"))
        os.mkfifo(self.path("folder/pipe.jpg"))
        for verb in (["classify", model, "folder/pipe.jpg"], ["classify", model, "folder"],
                     ["segment", model, "folder/pipe.jpg", "-o", "mask.png"], ["run", model, "-i", '"@folder/pipe.jpg"'],
                     ["quantize", model, "--calibrate", "folder", "--mode", "core", "-o", "q.pt"]):
            with self.subTest(verb):
                self.fails(*verb, says="not a regular file")
        self.fails("classify", model, os.path.join(DEMO, "images"), "--labels", "folder/pipe.jpg", says="not a regular file")


if __name__ == "__main__":
    main()
