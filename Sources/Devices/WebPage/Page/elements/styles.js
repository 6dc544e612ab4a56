// The style sheets that are loaded with the modules that need them.

import { h } from './dom.js'

/** The module awaits its sheet, so that no element is ever seen without its style. */
export function addStyles(name, module) {
  return new Promise(done => document.head.append(h('link', {
    rel: 'stylesheet', href: new URL(`${name}.css`, module), onload: done, onerror: done,
  })))
}

await addStyles('parts', import.meta.url)
