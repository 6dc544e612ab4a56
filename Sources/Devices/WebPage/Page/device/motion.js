// Animations.

const reduced = matchMedia('(prefers-reduced-motion: reduce)')
/** Milliseconds. `settle` ends what a pointer began. */
export const durations = { push: 350, present: 400, fade: 200, settle: 250, pulse: 600 }
const reducedDuration = 100
const easing = 'cubic-bezier(.32,.72,0,1)'
const [appear, vanish] = [[{ opacity: 0 }, { opacity: 1 }], [{ opacity: 1 }, { opacity: 0 }]]

// A step is an element, its keyframes and, for reduced motion, 'in' or 'out' if it fades; otherwise it stays.

export function fadeIn(element) { return [element, appear, 'in'] }
export function fadeOut(element) { return [element, vanish, 'out'] }

export function move(element, from, to, fade = null) {
  return [element, [{ transform: from }, { transform: to }], fade]
}

/** Calls `after` when all have ended, before their effect is taken away: there is no frame between. */
export async function play(steps, milliseconds, after) {
  const isReduced = reduced.matches
  const duration = document.hidden ? 0 : isReduced ? Math.min(milliseconds, reducedDuration) : milliseconds
  const running = steps.filter(([, , fade]) => fade || !isReduced).map(([element, frames, fade]) =>
    element.animate(!isReduced ? frames : fade === 'in' ? appear : vanish, { duration, easing, fill: 'both' }))
  // Animations of a tab in the background do not proceed.
  const limit = new Promise(resolve => setTimeout(resolve, duration + 400))
  await Promise.race([Promise.allSettled(running.map(animation => animation.finished)), limit])
  after?.()
  for (const animation of running) animation.cancel()
}
