// SPDX-License-Identifier: BSD-2-Clause
// The model runs in this worker, so that the page stays responsive while it loads and computes.
import {loadModel} from './taper-wasm/taper.js';

const model = loadModel(new URL('classifier.ptl', import.meta.url), {
    onProgress: (loaded, total) => postMessage({loaded, total}),
});
model.then(() => postMessage({ready: true}), error => postMessage({failed: error.message}));

onmessage = async ({data: {number, picture}}) => {
    try {
        const ready = await model, begin = performance.now();
        const classes = ready.classify(picture, {top: 5});
        postMessage({number, classes, milliseconds: performance.now() - begin});
    } catch (error) {
        postMessage({number, failed: error.message});
    }
};
