internal import Support

extension Flow {
    /// A screen and the steps that may follow it. A tree of steps declares screens and the rules between them.
    ///
    ///     Flow.Step("name", next: "command.NameEntered", guard: saved) {
    ///         Flow.Step("team", where: ["member": true], next: "command.TeamEntered") {
    ///             Flow.Step("welcome")
    ///         }
    ///         Flow.Step("welcome")
    ///     }
    ///
    /// The rules of the steps come after the flow's other rules. The same step may occur in several places.
    public struct Step: Hashable, Sendable {
        public let screen: String
        /// The title that a view may show. Nil if the step sets none.
        public let title: String?
        /// The conditions under which this step follows the step before it. They refer to fields of the command in the
        /// former step's `next`. Fields that begin with `answer.` refer to the answer to the former step's guard.
        public let fields: [String: Match]
        /// The type of the command that leads on to the following steps. Nil for a last step.
        public let next: String?
        /// The types of further commands that the screen may send, besides ``next``.
        public let sends: [String]
        /// A question that must be answered before a following step is shown. Nil if the following step is shown at
        /// once.
        public let `guard`: Guard?
        /// The steps that may follow. Their ``fields`` decide which of them does.
        public let steps: [Step]
        /// The place where the step is written.
        public let location: RuleLocation

        public init(
            _ screen: String,
            title: String? = nil,
            where fields: [String: Match] = [:],
            next: String? = nil,
            sends: [String] = [],
            guard condition: Guard? = nil,
            file: String = #fileID,
            line: Int = #line,
            @StepBuilder steps: () -> [Step] = { [] }
        ) {
            self.init(
                screen, title: title, where: fields, next: next, sends: sends, guard: condition, steps: steps(),
                location: RuleLocation(file: file, line: line))
        }

        package init(
            _ screen: String,
            title: String?,
            where fields: [String: Match],
            next: String?,
            sends: [String],
            guard condition: Guard?,
            steps: [Step],
            location: RuleLocation
        ) {
            self.screen = screen
            self.title = title
            self.fields = fields
            self.next = next
            self.sends = sends
            self.guard = condition
            self.steps = steps
            self.location = location
        }
    }

    @resultBuilder
    public enum StepBuilder {
        public static func buildExpression(_ step: Step) -> [Step] { [step] }

        /// Adds steps that were built elsewhere.
        public static func buildExpression(_ steps: [Step]) -> [Step] { steps }

        public static func buildBlock(_ steps: [Step]...) -> [Step] { steps.flatMap(\.self) }
    }
}

// The conversion of trees of steps to screens and rules.

extension Flow {
    /// The screens and rules that the trees of steps declare, in the order of the trees.
    package static func parts(of trees: [Step]) -> [Part] {
        let steps = steps(of: trees, at: "").map(\.step)
        return steps.map { .screen($0.declaration) } + steps.flatMap { $0.rules.map { .transition($0) } }
    }

    /// All steps of the trees with their places. A step that occurs several times is listed once, with its first place.
    package static func steps(of trees: [Step], at list: String) -> [(keyPath: String, step: Step)] {
        var listing = StepListing()
        for (index, tree) in trees.enumerated() { _ = listing.add(tree, at: "\(list)[\(index)]") }
        return listing.steps.sorted { $0.position < $1.position }.map { ($0.keyPath, $0.step) }
    }
}

/// Lists the steps of trees without duplicates. Equal steps get the same number; steps are compared by the numbers of
/// the steps that follow them.
private struct StepListing {
    /// The properties that equal steps share. The conditions under which a step follows another one are not among them.
    private struct Key: Hashable {
        let screen: String
        let title: String?
        let next: String?
        let sends: [String]
        let `guard`: Flow.Guard?
        let following: [Following]
    }

    private struct Following: Hashable {
        let fields: [String: Flow.Match]
        let step: Int
    }

    private var numbers: [Key: Int] = [:]
    private var count = 0
    private(set) var steps: [(position: Int, keyPath: String, step: Flow.Step)] = []

    /// Adds a step and the steps that follow it.
    ///
    /// - Returns: The step's number; equal steps have the same number.
    mutating func add(_ step: Flow.Step, at keyPath: String) -> Int {
        let position = count
        count += 1
        let following = step.steps.enumerated().map { index, next in
            Following(fields: next.fields, step: add(next, at: "\(keyPath).steps[\(index)]"))
        }
        let key = Key(
            screen: step.screen, title: step.title, next: step.next, sends: step.sends, guard: step.guard,
            following: following)
        if let number = numbers[key] { return number }
        numbers[key] = position
        steps.append((position, keyPath, step))
        return position
    }
}

extension Flow.Step {
    var declaration: Flow.Screen {
        Flow.Screen(screen, title: title, sends: sends + (next.map { [$0] } ?? []))
    }

    /// The rules that lead from this step to each of the following steps. Empty for a last step.
    package var rules: [Flow.Transition] {
        guard let next else { return [] }
        return steps.map { step in
            Flow.Transition(
                on: next,
                where: step.commandFields,
                when: [.top(.screen(screen))],
                guard: `guard`?.accepting(step.answerFields),
                do: [.push(.screen(step.screen))],
                file: location.file,
                line: location.line
            )
        }
    }

    private static let answer = "answer."

    private var commandFields: [String: Flow.Match] {
        fields.filter { !$0.key.begins(with: Self.answer) }
    }

    /// The conditions on the answer, without the prefix `answer.` of their paths.
    var answerFields: [String: Flow.Match] {
        let fields = fields.compactMap { key, match in key.removing(prefix: Self.answer).map { (String($0), match) } }
        return Dictionary(fields) { first, _ in first }
    }
}

extension Flow.Guard {
    /// The same guard, which additionally requires these fields of the accepting answer.
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
