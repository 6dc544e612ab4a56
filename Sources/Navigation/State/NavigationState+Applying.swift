extension NavigationState {
    /// This state after a step, as a view shows it that has animated the step.
    ///
    /// - Parameter step: A step of ``steps(from:)``. One that does not fit the state changes what it can.
    public mutating func apply(_ step: NavigationStep) {
        switch step {
        case .setRoot(let root):
            self.root = root
            path = []
            presentations = []
        case .selectTab(let tab):
            guard case .tabs(let tabs, _) = root.container else { return }
            root.container = .tabs(tabs, selected: tab)
        case .show(let stack, let column):
            guard case .split(var columns) = root.container else { return }
            columns[column] = stack
            root.container = .split(columns: columns)
        case .push(let instances, let layer): replace(0, with: instances, on: layer)
        case .pop(let count, let layer): replace(count, with: [], on: layer)
        case .replace(let count, let instances, let layer): replace(count, with: instances, on: layer)
        case .present(let presentation): presentations.append(presentation)
        case .dismiss(let instance):
            let index = presentations.firstIndex { $0.instance.id == instance }
            presentations.removeSubrange((index ?? presentations.endIndex)...)
        case .update(let instance): update(instance)
        }
    }

    private mutating func replace(_ count: Int, with instances: [ScreenInstance], on layer: NavigationStep.Layer) {
        guard let place = place(of: layer) else { return }
        self[place] = self[place].dropLast(count) + instances
    }

    private func place(of layer: NavigationStep.Layer) -> PathPlace? {
        switch layer {
        case .root: .root
        case .tab(let name): .tab(name)
        case .column(let name): .column(name)
        case .presentation(let id): presentations.firstIndex { $0.instance.id == id }.map { .presentation($0) }
        }
    }

    private mutating func update(_ instance: ScreenInstance) {
        func updated(_ standing: ScreenInstance) -> ScreenInstance { standing.id == instance.id ? instance : standing }
        root.instance = updated(root.instance)
        func updated(_ stack: ScreenStack) -> ScreenStack { ScreenStack(updated(stack.instance), path: stack.path) }
        switch root.container {
        case .split(let columns): root.container = .split(columns: columns.mapValues(updated))
        case .tabs(let tabs, let selected):
            root.container = .tabs(tabs.map { Container.Tab($0.name, updated($0.stack)) }, selected: selected)
        case nil: break
        }
        for index in presentations.indices { presentations[index].instance = updated(presentations[index].instance) }
        for place in paths { self[place] = self[place].map(updated) }
    }
}
