internal import Yams

extension YAMLReader {
    /// The trees of steps, as they are written.
    mutating func steps(_ node: Node, at list: String = "steps") -> [Flow.Step] {
        guard case .sequence(let elements) = node else {
            report("steps must be a list, each beginning with '- screen: NAME'", at: node)
            return []
        }
        var steps: [Flow.Step] = []
        for element in elements {
            // The place counts what could be read, for that is how the checks will count.
            let place = "\(list)[\(steps.count)]"
            if let step = step(element, at: place) { steps.append(step) } else { forget(place) }
        }
        return steps
    }

    private mutating func step(_ node: Node, at place: String) -> Flow.Step? {
        let members = members(
            of: node,
            "a step",
            at: place,
            required: ["screen"],
            optional: ["title", "where", "next", "guard", "steps"]
        )
        guard let members, let screen = members["screen"].flatMap({ string($0, "a screen's name") }) else { return nil }
        return Flow.Step(
            screen,
            title: members["title"].flatMap { string($0, "a screen's title") },
            where: members["where"].map { fields($0, at: "\(place).where") } ?? [:],
            next: members["next"].flatMap { string($0, "a command's type") },
            guard: members["guard"].map { condition($0, at: "\(place).guard") },
            steps: members["steps"].map { steps($0, at: "\(place).steps") } ?? []
        )
    }

    /// Lets what is wrong with the screens and rules of the trees be reported where the steps are written.
    /// - Parameter count: How many rules stand before theirs.
    mutating func noteParts(of trees: [Flow.Step], after count: Int) {
        var count = count
        for (place, step) in Flow.steps(of: trees, at: "steps") {
            noteAlso("screens.\(step.screen)", as: place)
            for _ in step.rules {
                noteAlso("transitions[\(count)]", as: place)
                count += 1
            }
        }
    }
}
