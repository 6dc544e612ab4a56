// @ts-check
// Animations and drags.

const reduced = matchMedia('(prefers-reduced-motion: reduce)')
const easing = 'cubic-bezier(.32,.72,0,1)'

/** True if the person has asked for nothing to move. */
export function isMotionReduced() { return reduced.matches }

/**
 * One animated element: its keyframes and, for reduced motion, whether it fades in, fades out or stays.
 * @typedef {[element: Element, frames: Keyframe[], fade?: 'in' | 'out' | null]} Step
 */

/**
 * Plays several animations as one. `after` is called when all have ended, before their effect is taken away: what it
 * changes is painted together with the end, without a frame between.
 * @param {Step[]} steps @param {number} milliseconds @param {() => void} [after]
 */
export async function play(steps, milliseconds, after) {
    let duration = document.hidden ? 0 : milliseconds
    let played = steps
    if (reduced.matches) {
        duration = Math.min(duration, 100)
        played = steps.filter(step => step[2]).map(([element, , fade]) =>
            [element, fade === 'in' ? [{ opacity: 0 }, { opacity: 1 }] : [{ opacity: 1 }, { opacity: 0 }], fade])
    }
    const running = played.map(([element, frames]) => element.animate(frames, { duration, easing, fill: 'both' }))
    // In a tab in the background animations do not proceed.
    const limit = new Promise(resolve => setTimeout(resolve, duration + 400))
    await Promise.race([Promise.allSettled(running.map(animation => animation.finished)), limit])
    after?.()
    for (const animation of running) animation.cancel()
}

/**
 * Handlers of a drag. Distances are measured from the point where the pointer went down, velocities in pixels per
 * millisecond. After `started` exactly one of `ended` and `cancelled` is called.
 * @typedef {{axis?: 'x' | 'y', forwardOnly?: boolean, started?: () => void, moved: (x: number, y: number) => void,
 *   ended: (x: number, y: number, velocityX: number, velocityY: number) => void, cancelled: () => void}} Drag
 */

/**
 * Calls `begin` when a pointer goes down; a drag that it returns starts when the pointer has moved by 6 pixels,
 * mainly along its axis and, if it is `forwardOnly`, to the right or down. Returns a function that cancels the running drag.
 * @param {HTMLElement} element @param {(event: PointerEvent) => Drag | null} begin
 */
export function onDrag(element, begin) {
    let cancel = () => {}
    element.addEventListener('pointerdown', down => {
        if (down.button || !down.isPrimary) return
        const drag = begin(down)
        if (!drag) return
        cancel()
        let started = false
        let samples = [{ x: 0, y: 0, time: down.timeStamp }]
        const listeners = new AbortController()
        const finish = (/** @type {() => void} */ report) => {
            if (listeners.signal.aborted) return
            listeners.abort()
            cancel = () => {}
            document.documentElement.classList.remove('dragging')
            if (started) report()
        }
        cancel = () => finish(drag.cancelled)
        const on = (name, handler) => addEventListener(name, event => {
            if (event.pointerId === down.pointerId) handler(event)
        }, { signal: listeners.signal })
        on('pointermove', event => {
            const x = event.clientX - down.clientX
            const y = event.clientY - down.clientY
            if (!started) {
                if (Math.hypot(x, y) < 6) return
                const along = drag.axis === 'x' ? Math.abs(x) : drag.axis === 'y' ? Math.abs(y) : 1
                const across = drag.axis === 'x' ? Math.abs(y) : drag.axis === 'y' ? Math.abs(x) : 0
                const isBackward = drag.forwardOnly && (drag.axis === 'x' ? x : y) < 0
                if (across > along || isBackward) return finish(() => {})
                started = true
                document.documentElement.classList.add('dragging')
                // The click that follows goes to the captured element instead of a row below the pointer.
                try { element.setPointerCapture(down.pointerId) } catch { /* the pointer is up already */ }
                drag.started?.()
            }
            samples = [...samples.filter(sample => event.timeStamp - sample.time < 100), { x, y, time: event.timeStamp }]
            drag.moved(x, y)
        })
        on('pointerup', event => {
            const x = event.clientX - down.clientX
            const y = event.clientY - down.clientY
            const first = samples.find(sample => event.timeStamp - sample.time < 100) ?? { x, y, time: event.timeStamp - 1 }
            const time = Math.max(1, event.timeStamp - first.time)
            finish(() => drag.ended(x, y, (x - first.x) / time, (y - first.y) / time))
        })
        on('pointercancel', () => cancel())
        addEventListener('blur', () => cancel(), { signal: listeners.signal })
    })
    return () => cancel()
}
