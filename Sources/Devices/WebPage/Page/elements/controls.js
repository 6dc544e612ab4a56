// Controls that several parts of the page have.
import { onDrag } from './drag.js'

const keyStep = 16

/**
 * Lets a separator resize the element on one of its sides, by pointer and with the arrow keys.
 * @param direction 1 if the element is on the left
 */
export function onResize(separator, element, resize, direction = 1) {
  // The width also changes with that of the window.
  new ResizeObserver(() => {
    const part = element.offsetWidth / (element.parentElement?.clientWidth || 1)
    separator.ariaValueNow = String(Math.round(100 * part))
  }).observe(element)
  separator.addEventListener('keydown', event => {
    const step = { ArrowLeft: -keyStep, ArrowRight: keyStep }[event.key]
    if (!step) return
    event.preventDefault()
    resize(element.offsetWidth + direction * step)
  })
  onDrag(separator, () => {
    const width = element.offsetWidth
    const moved = x => resize(width + direction * x)
    return { axis: 'x', moved, ended: moved, cancelled: () => moved(0) }
  })
}

/** In a list of tabs, the arrow keys, Home and End select a tab. */
export function onTabKeys(list) {
  list.addEventListener('keydown', event => {
    const tabs = [...list.children]
    const index = tabs.findIndex(tab => tab === document.activeElement)
    const next = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: -1 }[event.key]
    const tab = tabs.at((next ?? NaN) % tabs.length)
    if (next == null || !tab) return
    event.preventDefault()
    tab.focus()
    tab.click()
  })
}

/** Marks a tab as selected or not. Of a list of tabs, only the selected one is in the order of the Tab key. */
export function selectTab(tab, isSelected) {
  tab.ariaSelected = String(isSelected)
  tab.tabIndex = isSelected ? 0 : -1
}
