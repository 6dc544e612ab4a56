// @ts-check
// What the page remembers. Browsers may forbid storage; the page then works without memory.

/** @param {'session' | 'local'} area @param {string} key @returns {any} null if there is nothing */
export function recall(area, key) {
    try { return JSON.parse(storage(area).getItem(`segue.${key}`) ?? 'null') } catch { return null }
}

/** @param {'session' | 'local'} area @param {string} key @param {any} value */
export function remember(area, key, value) {
    try { storage(area).setItem(`segue.${key}`, JSON.stringify(value)) } catch { /* Storage is forbidden or full. */ }
}

function storage(area) { return area === 'session' ? sessionStorage : localStorage }
