extension Flow {
    /// A screen with what follows it: a tree of steps is a flow from screen to screen, written as it is walked.
    ///
    ///     Flow.Step("name", next: "command.NameEntered", guard: saved) {
    ///         Flow.Step("team", where: ["member": true], next: "command.TeamEntered") {
    ///             Flow.Step("welcome")
    ///         }
    ///         Flow.Step("welcome")
    ///     }
    ///
    /// It is a way to write screens and rules, and nothing else: the flow is the same value as if they were written one
    /// by one, the rules after all others. No step knows the one before it, so the same step may stand in several
    /// places.
    public struct Step: Hashable, Sendable {
        /// The screen.
        public let screen: String
        /// What a view may show as its title.
        public let title: String?
        /// When it is this step that follows: what fields of the command before it must be. Those that begin with
        /// `answer.` are fields of the answer to the guard instead.
        public let fields: [String: Match]
        /// The type of the command that leads on from here.
        public let next: String?
        /// What has to be answered before it does.
        public let `guard`: Guard?
        /// What may follow; of several the first whose fields match.
        public let steps: [Step]

        /// Declares a step.
        public init(
            _ screen: String,
            title: String? = nil,
            where fields: [String: Match] = [:],
            next: String? = nil,
            guard condition: Guard? = nil,
            @StepBuilder steps: () -> [Step] = { [] }
        ) {
            self.init(screen, title: title, where: fields, next: next, guard: condition, steps: steps())
        }

        package init(
            _ screen: String,
            title: String?,
            where fields: [String: Match],
            next: String?,
            guard condition: Guard?,
            steps: [Step]
        ) {
            self.screen = screen
            self.title = title
            self.fields = fields
            self.next = next
            self.guard = condition
            self.steps = steps
        }
    }

    /// Collects the steps that may follow one.
    @resultBuilder
    public enum StepBuilder {
        /// Takes a step.
        public static func buildExpression(_ step: Step) -> [Step] { [step] }

        /// Takes steps that were made elsewhere.
        public static func buildExpression(_ steps: [Step]) -> [Step] { steps }

        /// Joins the steps.
        public static func buildBlock(_ steps: [Step]...) -> [Step] { steps.flatMap(\.self) }
    }
}

// How trees of steps become screens and rules.

extension Flow.Step {
    func placed(at place: String) -> [(place: String, step: Flow.Step)] {
        [(place, unconditional)] + steps.enumerated().flatMap { $1.placed(at: "\(place).steps[\($0)]") }
    }

    /// The same wherever it stands: when it follows is none of its own business.
    private var unconditional: Flow.Step {
        Flow.Step(screen, title: title, where: [:], next: next, guard: `guard`, steps: steps)
    }

    var declaration: Flow.Screen {
        Flow.Screen(screen, title: title, sends: next.map { [$0] } ?? [])
    }

    /// How it leads to each of those that may follow.
    package var rules: [Flow.Transition] {
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
