// The navigation state of a scene as a device draws it.

/** The first column and the only stack have no name. */
export function read(state) {
  const root = state.root
  const { kind = 'stack', columns = {}, tabs, selected } = root.container ?? {}
  const stacks = tabs?.map(tab => ({ name: tab.name, instances: stackOf(tab) })) ?? [
    { name: '', instances: stackOf({ ...root, path: state.path }) },
    ...Object.keys(columns).sort().map(name => ({ name, instances: stackOf(columns[name]) })),
  ]
  const presentations = []
  for (let next = state.presented; next; next = next.presented) {
    presentations.push({ ...next, id: next.instance, instances: stackOf(next) })
  }
  const leaving = state.leaving.map(screen => screen.instance)
  return { root: instance(root), kind, stacks, selected, presentations, leaving }
}

function instance({ instance, screen }) { return { id: instance, screen } }

function stackOf(base) { return [base, ...base.path].map(instance) }

/** The model without what a person has taken away, and without what was above it in the same window. */
export function without(model, gone) {
  const cut = stack => {
    const index = stack.instances.findIndex(screen => gone.has(screen.id))
    return index < 1 ? stack : { ...stack, instances: stack.instances.slice(0, index) }
  }
  let isGone = false
  const presentations = model.presentations.filter(presentation => {
    isGone = gone.has(presentation.id) || (isGone && presentation.style !== 'window')
    return !isGone
  })
  return { ...model, stacks: model.stacks.map(cut), presentations: presentations.map(cut) }
}

export function instances(model) {
  return [model.root, ...[...model.stacks, ...model.presentations].flatMap(stack => stack.instances)]
}

export function standing(model) { return new Set(instances(model).map(screen => screen.id)) }

export function front(model) {
  const stack = model.presentations.at(-1)
    ?? model.stacks.find(tab => model.kind === 'tabs' && tab.name === model.selected) ?? model.stacks.at(-1)
  return stack?.instances.at(-1) ?? model.root
}
