// Animations and drags.

const reduced = matchMedia('(prefers-reduced-motion: reduce)')
/** The durations of animations in milliseconds. `settle` ends what a pointer began. */
export const durations = { push: 350, present: 400, fade: 200, settle: 250, pulse: 600 }
const reducedDuration = 100
const easing = 'cubic-bezier(.32,.72,0,1)'
const [appear, vanish] = [[{ opacity: 0 }, { opacity: 1 }], [{ opacity: 1 }, { opacity: 0 }]]
/** The distance in pixels from which on a pressed pointer drags. */
const dragDistance = 6
/** The last part of a drag, in milliseconds, from which its velocity is computed. */
const velocityTime = 100

// A step is an element, its keyframes and, for reduced motion, 'in' or 'out' if it fades; otherwise it stays.

export function fadeIn(element) { return [element, appear, 'in'] }
export function fadeOut(element) { return [element, vanish, 'out'] }

export function move(element, from, to, fade = null) {
  return [element, [{ transform: from }, { transform: to }], fade]
}

/**
 * Plays several animations as one. `after` is called when all have ended, before their effect is taken away: what it
 * changes is painted together with the end, without a frame between.
 */
export async function play(steps, milliseconds, after) {
  const isReduced = reduced.matches
  const duration = document.hidden ? 0 : isReduced ? Math.min(milliseconds, reducedDuration) : milliseconds
  const running = steps.filter(([, , fade]) => fade || !isReduced).map(([element, frames, fade]) =>
    element.animate(!isReduced ? frames : fade === 'in' ? appear : vanish, { duration, easing, fill: 'both' }))
  // In a tab in the background animations do not proceed.
  const limit = new Promise(resolve => setTimeout(resolve, duration + 400))
  await Promise.race([Promise.allSettled(running.map(animation => animation.finished)), limit])
  after?.()
  for (const animation of running) animation.cancel()
}

/**
 * Calls `begin` when a pointer goes down; a drag that it returns starts when the pointer has moved, mainly along its
 * `axis` and, if it is `forwardOnly`, to the right or down: `started()`, then `moved(x, y)`, and at the end either
 * `ended(x, y, velocityX, velocityY)` or `cancelled()`. Distances are from where the pointer went down, velocities in
 * pixels per millisecond. Returns a function that cancels the running drag.
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
      // The click that follows goes to the captured element instead of a row below the pointer.
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
