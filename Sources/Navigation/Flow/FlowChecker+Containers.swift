extension FlowChecker {
    mutating func check(_ layout: Flow.Layout?, at place: String) {
        guard case .tabs(let tabs) = layout else { return }
        if tabs.isEmpty || Set(tabs.map(\.name)).count != tabs.count {
            report("tabs need names that differ; name at least one", at: place)
        }
        for (index, tab) in tabs.enumerated() { check(tab.destination, at: "\(place).tabs[\(index)]") }
    }

    mutating func check(_ extent: Flow.Extent, at place: String) {
        switch extent {
        case .count(let count):
            if count < 1 { report("'pop' takes at least one screen; write a number from 1", at: place) }
        case .to(let screen): checkScreen(screen, at: place)
        }
    }

    mutating func check(column: String?, at place: String) {
        let shown = Set(
            flow.allTransitions.flatMap(\.actions).compactMap { action in
                if case .show(_, let column) = action { column } else { nil }
            }
        ).union(flow.links.flatMap(\.to.columns.keys))
        guard let column, !shown.contains(column), !isRequest else { return }
        let advice = shown.isEmpty ? "'show' one there first" : Spelling.advice(for: column, among: shown)
        report("nothing is ever shown in column '\(column)'; \(advice)", at: "\(place).column")
    }

    mutating func checkTab(_ name: String, at place: String) {
        let tabs = Set(
            flow.allTransitions.flatMap(\.actions).flatMap { action -> [String] in
                if case .setRoot(_, .tabs(let tabs)) = action { tabs.map(\.name) } else { [] }
            }
        ).union(
            flow.links.flatMap { link -> [String] in
                if case .tabs(let tabs) = link.to.root?.container { tabs.map(\.name) } else { [] }
            })
        guard !tabs.contains(name), !isRequest else { return }
        let advice = tabs.isEmpty ? "no root has tabs" : Spelling.advice(for: name, among: tabs)
        report("unknown tab '\(name)'; \(advice)", at: place)
    }
}
