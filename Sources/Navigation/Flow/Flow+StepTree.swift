// How trees of steps become screens and rules.

extension Flow {
    /// The screens and rules that trees of steps stand for, in the order of the trees.
    static func parts(of trees: [Step]) -> [Part] {
        let steps = steps(of: trees, at: "").map(\.step)
        return steps.map { .screen($0.declaration) } + steps.flatMap { $0.rules.map { .transition($0) } }
    }

    /// All steps of the trees with their places, but those that stand there again only once.
    static func steps(of trees: [Step], at list: String) -> [(place: String, step: Step)] {
        var known = Set<Step>()
        return trees.enumerated().flatMap { $1.placed(at: "\(list)[\($0)]") }.filter { known.insert($0.step).inserted }
    }
}

extension Flow.Step {
    fileprivate func placed(at place: String) -> [(place: String, step: Flow.Step)] {
        [(place, unconditional)] + steps.enumerated().flatMap { $1.placed(at: "\(place).steps[\($0)]") }
    }

    /// The same wherever it stands: when it follows is none of its own business.
    private var unconditional: Flow.Step {
        Flow.Step(screen, title: title, where: [:], next: next, guard: `guard`, steps: steps)
    }

    fileprivate var declaration: Flow.Screen {
        Flow.Screen(screen, title: title, sends: next.map { [$0] } ?? [])
    }

    /// How it leads to each of those that may follow.
    var rules: [Flow.Transition] {
        guard let next else { return [] }
        return steps.map { step in
            Flow.Transition(
                on: next,
                where: step.commandFields,
                when: [.top(.screen(screen))],
                guard: `guard`?.accepting(step.answerFields),
                do: [.push(.screen(step.screen))]
            )
        }
    }
}

extension Flow.Step {
    private static let answer = "answer."

    private var commandFields: [String: Flow.Match] {
        fields.filter { !$0.key.hasPrefix(Self.answer) }
    }

    /// Those of the answer, without what tells them from the command's.
    var answerFields: [String: Flow.Match] {
        let fields = fields.filter { $0.key.hasPrefix(Self.answer) }
            .map { (String($0.key.dropFirst(Self.answer.count)), $0.value) }
        return Dictionary(fields) { first, _ in first }
    }
}

extension Flow.Guard {
    /// The same, but of the answers that are accepted only those that have these fields as well.
    fileprivate func accepting(_ fields: [String: Flow.Match]) -> Flow.Guard {
        Flow.Guard(
            ask: ask,
            accept: Answer(accept.on, where: accept.fields.merging(fields) { _, step in step }),
            reject: reject,
            deadline: deadline,
            meanwhile: meanwhile,
            rejected: rejected,
            expired: expired
        )
    }
}

extension FlowChecker {
    /// Checks what only the tree can tell; its screens and rules are checked with all others.
    mutating func check(_ trees: [Flow.Step]) {
        for tree in trees.enumerated() where !tree.element.fields.isEmpty {
            report("no command comes before the first step; remove 'where'", at: "steps[\(tree.offset)].where")
        }
        for (place, step) in Flow.steps(of: trees, at: "steps") {
            if step.next == nil, !step.steps.isEmpty {
                report("nothing leads on from '\(step.screen)'; name the command in 'next'", at: "\(place).steps")
            } else if step.next != nil, step.steps.isEmpty {
                report("'next' leads nowhere; add 'steps', or remove it", at: "\(place).next")
            }
            if step.next == nil, step.guard != nil {
                report("there is no 'next' that could wait; remove the guard", at: "\(place).guard")
            }
            for (index, following) in step.steps.enumerated() where step.guard == nil {
                guard !following.answerFields.isEmpty else { continue }
                report("'\(step.screen)' has no guard whose answer could tell", at: "\(place).steps[\(index)].where")
            }
        }
    }
}
