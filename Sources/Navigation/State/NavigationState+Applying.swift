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
        case .show(let instance, let column):
            guard case .split(var columns) = root.container else { return }
            columns[column] = instance
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
        switch layer {
        case .root: path = path.dropLast(count) + instances
        case .presentation(let id):
            guard let index = presentations.firstIndex(where: { $0.instance.id == id }) else { return }
            presentations[index].path = presentations[index].path.dropLast(count) + instances
        }
    }

    private mutating func update(_ instance: ScreenInstance) {
        func updated(_ standing: ScreenInstance) -> ScreenInstance { standing.id == instance.id ? instance : standing }
        root.instance = updated(root.instance)
        if case .split(let columns) = root.container { root.container = .split(columns: columns.mapValues(updated)) }
        path = path.map(updated)
        for index in presentations.indices {
            presentations[index].instance = updated(presentations[index].instance)
            presentations[index].path = presentations[index].path.map(updated)
        }
    }
}
