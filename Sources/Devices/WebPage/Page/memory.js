// What the page remembers. Browsers may forbid storage; the page then works without memory.

/** Null for an operator's browser. */
export const ownSession = document.documentElement.dataset.session ?? null
const prefix = `segue.${ownSession ?? ''}`

export function recall(area, key) {
  try { return JSON.parse(window[`${area}Storage`].getItem(prefix + key)) } catch { return null }
}

export function remember(area, key, value) {
  try { window[`${area}Storage`].setItem(prefix + key, JSON.stringify(value)) } catch { /* forbidden or full */ }
}
