// Controls that several parts of the page have.
import { onDrag } from './drag.js'

const keyStep = 16

/**
 * Lets a separator resize the element on one of its sides, by pointer and with the arrow keys.
 * @param direction 1 if the element is on the left or above
 * @param axis `x` for a width, `y` for a height
 */
export function onResize(separator, element, resize, direction = 1, axis = 'x') {
  const [size, room, keys] = axis === 'x' ? ['offsetWidth', 'clientWidth', { ArrowLeft: -keyStep, ArrowRight: keyStep }]
    : ['offsetHeight', 'clientHeight', { ArrowUp: -keyStep, ArrowDown: keyStep }]
  // The size also changes with that of the window.
  new ResizeObserver(() => {
    const part = element[size] / (element.parentElement?.[room] || 1)
    separator.ariaValueNow = String(Math.round(100 * part))
  }).observe(element)
  separator.addEventListener('keydown', event => {
    const step = keys[event.key]
    if (!step) return
    event.preventDefault()
    resize(element[size] + direction * step)
  })
  onDrag(separator, () => {
    const before = element[size]
    const moved = (x, y) => resize(before + direction * (axis === 'x' ? x : y))
    return { axis, moved, ended: moved, cancelled: () => moved(0, 0) }
  })
}

/** True for a key that is a shortcut of the browser or the system. */
export function hasModifier({ metaKey, ctrlKey, altKey }) { return metaKey || ctrlKey || altKey }

/** In a list of tabs, the arrow keys, Home and End select a tab. */
export function onTabKeys(list) {
  list.addEventListener('keydown', event => {
    const tabs = [...list.children].filter(tab => !tab.hidden)
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
