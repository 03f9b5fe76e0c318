// SPDX-License-Identifier: BSD-2-Clause
// docs_test.mjs PACKAGE SOURCE: runs the JavaScript blocks of docs/javascript.md and of the package's own page. The
// blocks of each page run in order as one program, in a folder with the package and the demo's models.
import {spawnSync} from 'node:child_process';
import {cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';

const [, , folder, source] = process.argv;
// Objects that the pages expect the reader to have: a picture, numbers, a progress display.
const GIVEN = `
globalThis.imageData = {data: new Uint8ClampedArray(4 * 64 * 48).fill(90), width: 64, height: 48};
globalThis.nested = [Array(3).fill(Array(32).fill(Array(32).fill(0.5)))];
globalThis.show = part => { if (!(part > 0 && part <= 1)) throw new Error(String(part)); };
`;
const scratch = mkdtempSync(join(tmpdir(), 'taper-docs-'));
mkdirSync(join(scratch, 'node_modules'));
symlinkSync(resolve(folder), join(scratch, 'node_modules/taper-wasm'));
for (const [name, copied] of [['model.ptl', 'classifier.ptl'], ['classifier.ptl', 'classifier.ptl'], ['segmenter.ptl', 'segmenter.ptl']]) {
    cpSync(join(source, 'examples/demo', copied), join(scratch, name));
}
let failed = 0;
for (const page of ['docs/javascript.md', 'bindings/wasm/package/README.md']) {
    const blocks = [...readFileSync(join(source, page), 'utf8').matchAll(/^```javascript\n([^]*?)^```/gm)].map(([, body]) => body);
    writeFileSync(join(scratch, 'page.mjs'), blocks.join('\n'));
    writeFileSync(join(scratch, 'given.mjs'), GIVEN);
    writeFileSync(join(scratch, 'start.mjs'), "import './given.mjs';\nawait import('./page.mjs');\n");
    const {status, stdout, stderr} = spawnSync(process.execPath, ['start.mjs'], {cwd: scratch, encoding: 'utf8'});
    if (status !== 0 || blocks.length === 0) {
        console.log(`FAILED ${page}\n${stdout}${stderr}`);
        failed++;
    }
    console.log(`${page}: ${blocks.length} blocks`);
}
rmSync(scratch, {recursive: true});
process.exit(failed);
