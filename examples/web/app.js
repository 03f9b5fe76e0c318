// SPDX-License-Identifier: BSD-2-Clause
// The page: shows a picture that the user selects and the classes that the worker's model finds in it.
const SAMPLES = ['picnic.jpg', 'lake.jpg', 'garden.jpg', 'forest.jpg', 'night.png', 'hills.png'];
const LARGEST = 1024; // largest width and height of a picture, in pixels; larger pictures take more time without better results
const element = id => document.getElementById(id);
const worker = new Worker(new URL('worker.js', import.meta.url), {type: 'module'});
let number = 0; // number of the current picture; results for earlier pictures are ignored

function say(text, failed = false) {
    element('status').textContent = text;
    element('status').classList.toggle('failed', failed);
}

function showClasses(classes) {
    const percent = new Intl.NumberFormat(undefined, {style: 'percent', minimumFractionDigits: 1});
    element('classes').replaceChildren(...classes.map(({label, probability}) => {
        const item = document.createElement('li'), name = document.createElement('div');
        const bar = document.createElement('div'), filled = document.createElement('i');
        name.className = 'name';
        name.append(Object.assign(document.createElement('span'), {textContent: label}),
            Object.assign(document.createElement('span'), {textContent: percent.format(probability)}));
        bar.className = 'bar';
        bar.setAttribute('aria-hidden', 'true');
        filled.style.width = `${100 * probability}%`;
        bar.append(filled);
        item.append(name, bar);
        return item;
    }));
}

worker.onmessage = ({data}) => {
    if (data.loaded !== undefined) {
        element('progress').value = data.total ? data.loaded / data.total : 0;
    } else if (data.ready) {
        element('progress').hidden = true;
        if (number === 0) {
            say('The model is ready: choose a picture.');
        }
    } else if (data.failed !== undefined && (data.number ?? number) === number) {
        element('progress').hidden = true;
        say(data.failed, true);
    } else if (data.number === number) {
        showClasses(data.classes);
        say(`${data.classes[0].label}, in ${data.milliseconds.toFixed(1)} ms.`);
    }
};
worker.onerror = event => say(`The worker ended: ${event.message}`, true);

// Shows a picture and asks the worker for its classes. source: a File, or a promise of a Blob.
async function classify(source, name) {
    const mine = ++number;
    element('classes').replaceChildren();
    say('Looking…');
    let bitmap;
    try {
        bitmap = await createImageBitmap(await source);
    } catch {
        if (mine === number) {
            say(`${name} is no picture that this browser reads.`, true);
        }
        return;
    }
    if (mine !== number) {
        return;
    }
    const scale = Math.min(1, LARGEST / Math.max(bitmap.width, bitmap.height));
    const canvas = element('preview'), drawing = canvas.getContext('2d', {willReadFrequently: true});
    canvas.width = Math.max(1, Math.round(bitmap.width * scale));
    canvas.height = Math.max(1, Math.round(bitmap.height * scale));
    canvas.setAttribute('aria-label', name);
    drawing.imageSmoothingQuality = 'high';
    drawing.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const {data, width, height} = drawing.getImageData(0, 0, canvas.width, canvas.height);
    worker.postMessage({number: mine, picture: {data, width, height}}, [data.buffer]);
}

function press(button) {
    document.querySelectorAll('.samples button').forEach(one => one.setAttribute('aria-pressed', String(one === button)));
}

element('samples').append(...SAMPLES.map(name => {
    const item = document.createElement('li'), button = document.createElement('button');
    const picture = Object.assign(new Image(), {src: `images/${name}`, alt: name.replace(/\..*/, '')});
    button.type = 'button';
    button.setAttribute('aria-pressed', 'false');
    button.append(picture);
    button.onclick = () => {
        press(button);
        classify(fetch(picture.src).then(answer => answer.blob()), name);
    };
    item.append(button);
    return item;
}));

function choose(file) {
    if (file !== undefined) {
        press(undefined);
        classify(file, file.name);
    }
}

element('file').onchange = event => choose(event.target.files[0]);
const drop = element('drop');
for (const kind of ['dragenter', 'dragover', 'dragleave', 'drop']) {
    drop.addEventListener(kind, event => {
        event.preventDefault();
        drop.classList.toggle('over', kind === 'dragenter' || kind === 'dragover');
        if (kind === 'drop') {
            choose(event.dataTransfer.files[0]);
        }
    });
}
