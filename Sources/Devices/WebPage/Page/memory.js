// What the page remembers. Browsers may forbid storage; the page then works without memory.

export function recall(area, key) {
  try { return JSON.parse(window[`${area}Storage`].getItem(`segue.${key}`)) } catch { return null }
}

export function remember(area, key, value) {
  try { window[`${area}Storage`].setItem(`segue.${key}`, JSON.stringify(value)) } catch { /* forbidden or full */ }
}
