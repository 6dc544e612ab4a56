// Drags with a pointer, such as a swipe back, a sheet that is pulled down, or a divider.

/** A pressed pointer drags from this distance on, in pixels. */
const dragDistance = 6
/** The velocity is that of these last milliseconds. */
const velocityTime = 100

/**
 * Calls `begin` when a pointer goes down. The drag that it returns starts when the pointer has moved, mainly along its
 * `axis`, if it is `forwardOnly` to the right or down: `started()`, then `moved(x, y)`, at last `cancelled()` or
 * `ended(x, y, velocityX, velocityY)`. Distances are from where the pointer went down, velocities in pixels per
 * millisecond. Returns a function that cancels the running drag.
 */
export function onDrag(element, begin) {
  let cancel = () => {}
  element.addEventListener('pointerdown', down => {
    const drag = down.button || !down.isPrimary ? null : begin(down)
    if (!drag) return
    cancel()
    let isStarted = false
    const distance = ({ clientX, clientY, timeStamp }) =>
      ({ x: clientX - down.clientX, y: clientY - down.clientY, time: timeStamp })
    let samples = [distance(down)]
    const listeners = new AbortController()
    const { signal } = listeners
    const finish = report => {
      if (signal.aborted) return
      listeners.abort()
      document.documentElement.classList.remove('dragging')
      if (isStarted) report()
    }
    cancel = () => finish(drag.cancelled)
    const start = (x, y) => {
      const [along, across] = drag.axis === 'x' ? [x, y] : drag.axis === 'y' ? [y, x] : [Math.hypot(x, y), 0]
      if (Math.abs(across) > Math.abs(along) || (drag.forwardOnly && along < 0)) return finish(() => {})
      isStarted = true
      document.documentElement.classList.add('dragging')
      // The click that follows must not meet a row below the pointer.
      try { element.setPointerCapture(down.pointerId) } catch { /* the pointer is up already */ }
      drag.started?.()
    }
    const on = (name, handler) => addEventListener(name, event => {
      if (event.pointerId === down.pointerId) handler(event)
    }, { signal })
    on('pointermove', event => {
      const sample = distance(event)
      if (!isStarted && Math.hypot(sample.x, sample.y) >= dragDistance) start(sample.x, sample.y)
      if (!isStarted) return
      samples = [...samples.filter(former => sample.time - former.time < velocityTime), sample]
      drag.moved(sample.x, sample.y)
    })
    on('pointerup', event => {
      const { x, y, time } = distance(event)
      // A pointer that has rested has no velocity.
      const first = samples.find(sample => time - sample.time < velocityTime) ?? { x, y, time }
      const elapsed = Math.max(1, time - first.time)
      finish(() => drag.ended(x, y, (x - first.x) / elapsed, (y - first.y) / elapsed))
    })
    on('pointercancel', () => cancel())
    addEventListener('blur', () => cancel(), { signal })
  })
  return () => cancel()
}
