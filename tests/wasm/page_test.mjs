// SPDX-License-Identifier: BSD-2-Clause
// page_test.mjs BROWSER SITE SOURCE: tests the page of examples/web in a headless browser, controlled by the browser's
// own protocol. Each of the demo's pictures must get the classes in examples/demo/expected.json, and the page must not
// contact any other host.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {extname, join, normalize} from 'node:path';

const [, , browser, site, source] = process.argv;
const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.jpg': 'image/jpeg', '.png': 'image/png'};
const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, 'http://page').pathname);
    try {
        const bytes = readFileSync(join(site, path === '/' ? 'index.html' : path));
        response.writeHead(200, {'content-type': TYPES[extname(path) || '.html'] ?? 'application/octet-stream', 'content-length': bytes.length});
        response.end(bytes);
    } catch {
        response.writeHead(404).end();
    }
}).listen(0);
const origin = `http://localhost:${server.address().port}`;

// ---- the browser: JSON messages, each terminated by a 0 byte

const profile = mkdtempSync(join(tmpdir(), 'taper-page-'));
const child = spawn(browser, ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--remote-debugging-pipe',
    `--user-data-dir=${profile}`, 'about:blank'], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
const waiting = new Map(), events = [];
let last = 0, received = '';
child.stdio[4].setEncoding('utf8').on('data', text => {
    const parts = (received + text).split('\0');
    received = parts.pop();
    for (const {id, method, params, result, error} of parts.map(part => JSON.parse(part))) {
        if (id !== undefined) {
            const {done, failed} = waiting.get(id);
            error ? failed(new Error(error.message)) : done(result);
        } else {
            events.push({method, params});
        }
    }
});
const call = (method, params = {}, sessionId) => new Promise((done, failed) => {
    waiting.set(++last, {done, failed});
    child.stdio[3].write(`${JSON.stringify({id: last, method, params, sessionId})}\0`);
});

async function drive() {
    const {targetInfos} = await call('Target.getTargets');
    const {targetId} = targetInfos.find(target => target.type === 'page') ?? await call('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await call('Target.attachToTarget', {targetId, flatten: true});
    const page = (method, params) => call(method, params, sessionId);
    const evaluate = async expression => {
        const {result, exceptionDetails} = await page('Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true});
        assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
        return result.value;
    };
    const until = async (expression, what) => {
        for (const end = Date.now() + 60000; Date.now() < end;) {
            if (await evaluate(expression)) {
                return;
            }
            await new Promise(wake => setTimeout(wake, 50));
        }
        assert.fail(`${what}: the page says ${await evaluate('document.body?.innerText')}`);
    };
    for (const domain of ['Page', 'Network', 'Runtime', 'DOM', 'Accessibility']) {
        await page(`${domain}.enable`);
    }
    await page('Page.navigate', {url: `${origin}/`});
    await until('document.readyState === "complete" && document.getElementById("status").textContent.includes("ready")', 'loading');

    // Waits until the page shows the result of a picture and returns it.
    const shown = async name => {
        await until('document.querySelectorAll("#classes li").length === 5', name);
        return evaluate(`({status: document.getElementById('status').textContent, classes: [...document.querySelectorAll('#classes .name')]
            .map(({children: [label, percent]}) => [label.textContent, parseFloat(percent.textContent) / 100])})`);
    };
    const expected = JSON.parse(readFileSync(join(source, 'examples/demo/expected.json')));
    const check = (name, {status, classes}) => {
        const wanted = expected[name].classify;
        assert.equal(classes[0][0], wanted[0].label, name);
        assert.ok(status.startsWith(`${wanted[0].label}, in `), status);
        for (const {label, probability} of wanted.filter(one => one.probability > 0.02)) {
            const [, got] = classes.find(([one]) => one === label) ?? assert.fail(`${name}: no ${label} among ${classes}`);
            // Browsers decode JPEG slightly differently, and some bytes differ by one, so the probabilities are
            // compared with a tolerance.
            assert.ok(Math.abs(got - probability) < 0.03, `${name}: ${label} ${got}, not ${probability}`);
        }
        console.log(`${name}: ${classes[0][0]} ${classes[0][1]}; ${status}`);
    };
    // Selects each sample picture with the keyboard.
    for (const name of Object.keys(expected)) {
        await evaluate('document.getElementById("classes").replaceChildren()');
        await evaluate(`document.querySelector('img[src="images/${name}"]').parentElement.focus()`);
        await page('Input.dispatchKeyEvent', {type: 'keyDown', key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r'});
        await page('Input.dispatchKeyEvent', {type: 'keyUp', key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13});
        check(name, await shown(name));
        assert.equal(await evaluate('document.querySelector(".samples [aria-pressed=true] img").alt'), name.replace(/\..*/, ''));
    }
    // The user selects a file, then a file that is not a picture, and then drops a file on the page.
    const {root} = await page('DOM.getDocument');
    const {nodeId} = await page('DOM.querySelector', {nodeId: root.nodeId, selector: '#file'});
    const choose = path => page('DOM.setFileInputFiles', {nodeId, files: [join(source, path)]});
    await choose('LICENSE');
    await until('document.getElementById("status").textContent.includes("LICENSE is no picture")', 'a text');
    assert.equal(await evaluate('document.querySelectorAll("#classes li").length'), 0);
    await choose('examples/demo/images/lake.jpg');
    check('lake.jpg', await shown('lake.jpg'));
    await evaluate(`fetch('images/picnic.jpg').then(answer => answer.blob()).then(blob => {
        const files = new DataTransfer();
        files.items.add(new File([blob], 'picnic.jpg', {type: 'image/jpeg'}));
        document.getElementById('drop').dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}));
    })`);
    await until('document.getElementById("status").textContent.startsWith("pizza")', 'a dropped picture');
    check('picnic.jpg', await shown('picnic.jpg'));

    // Tests accessibility: each control must have a name, and changes must be announced.
    const {nodes} = await page('Accessibility.getFullAXTree');
    const seen = nodes.filter(node => !node.ignored).map(node => ({role: node.role?.value, name: node.name?.value ?? ''}));
    for (const role of ['button', 'image', 'status', 'heading']) {
        assert.ok(seen.some(node => node.role === role), `nothing is a ${role}`);
    }
    seen.filter(node => ['button', 'image', 'textbox', 'progressbar'].includes(node.role))
        .forEach(node => assert.notEqual(node.name, '', `a ${node.role} without a name`));
    // The page must fit the width of a phone in both colour schemes.
    for (const scheme of ['light', 'dark']) {
        await page('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: scheme}]});
        await page('Emulation.setDeviceMetricsOverride', {width: 360, height: 740, deviceScaleFactor: 1, mobile: true});
        assert.equal(await evaluate('document.documentElement.scrollWidth'), 360, 'wider than the screen');
        await page('Emulation.clearDeviceMetricsOverride');
    }
    const asked = events.filter(event => event.method === 'Network.requestWillBeSent').map(event => event.params.request.url);
    assert.ok(asked.length > 5);
    asked.forEach(url => assert.match(url, new RegExp(`^(${origin}/|data:|blob:|about:)`)));
    const failed = events.filter(event => event.method === 'Runtime.exceptionThrown');
    assert.deepEqual(failed, []);
}

let status = 0;
try {
    await Promise.race([drive(), new Promise((_, failed) => child.on('exit', code => failed(new Error(`the browser ended: ${code}`))))]);
    console.log('ok');
} catch (error) {
    console.error(error);
    status = 1;
}
child.kill();
server.close();
await new Promise(done => child.exitCode !== null || child.signalCode !== null ? done() : child.on('exit', done));
rmSync(profile, {recursive: true, force: true, maxRetries: 5, retryDelay: 200});
process.exit(status);
