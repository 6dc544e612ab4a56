// Controls that several parts of the page have.
import { onDrag } from './drag.js'

const keyStep = 16

/** `direction` is 1 if the element is on the left or above; `axis` is `x` for a width, `y` for a height. */
export function onResize(separator, element, resize, direction = 1, axis = 'x') {
  const [size, room, keys] = axis === 'x' ? ['offsetWidth', 'clientWidth', { ArrowLeft: -keyStep, ArrowRight: keyStep }]
    : ['offsetHeight', 'clientHeight', { ArrowUp: -keyStep, ArrowDown: keyStep }]
  // The size also changes with the window.
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

export function hasModifier({ metaKey, ctrlKey, altKey }) { return metaKey || ctrlKey || altKey }

export function onTabKeys(list) {
  list.addEventListener('keydown', event => {
    const tabs = [...list.children].filter(tab => !tab.hidden)
    const index = tabs.findIndex(tab => tab === document.activeElement)
    const next = { ArrowLeft: index - 1, ArrowRight: index + 1, Home: 0, End: -1 }[event.key]
    const tab = tabs.at((next ?? NaN) % tabs.length)
    if (next == null || !tab) return
    event.preventDefault()
    if (tab === document.activeElement) return
    tab.focus()
    tab.click()
  })
}

/** Only the selected tab is in the order of the Tab key. */
export function selectTab(tab, isSelected) {
  tab.ariaSelected = String(isSelected)
  tab.tabIndex = isSelected ? 0 : -1
}
