/// Finds what is wrong with a flow, however it was made.
struct FlowChecker {
    struct Problem: Equatable {
        /// Where in the flow, such as `transitions[2].do[0].screen`.
        var place: String
        var message: String
        var severity = FlowFinding.Severity.error
        /// The place of what it has to do with.
        var other: String?

        /// - Parameter name: What to call a place.
        func message(naming name: (String) -> String) -> String {
            message + (other.map { " (see \(name($0)))" } ?? "")
        }
    }

    let flow: Flow
    /// Whether an action is checked that a view asks for: it holds no templates, and whether there is such a tab or
    /// column is for the state to say.
    let isRequest: Bool
    /// Whether templates may refer to the answer of a guard here.
    var allowsAnswer = false
    private(set) var problems: [Problem] = []

    init(flow: Flow, isRequest: Bool = false) {
        self.flow = flow
        self.isRequest = isRequest
    }

    mutating func check() {
        checkScreen(flow.start, at: "start")
        for screen in flow.screens.values.sorted(by: { $0.name < $1.name }) {
            for type in screen.sends { checkCommand(type, at: "screens.\(screen.name).sends") }
        }
        for type in flow.ignores where !Self.isType(type, ofKinds: ["event", "error"]) {
            report("'\(type)' is not the type of an event or error; write event.NAME", at: "ignores")
        }
        for (index, transition) in flow.transitions.enumerated() {
            check(transition, at: "transitions[\(index)]")
            checkEndings(in: transition, isInChild: false, at: "transitions[\(index)]")
        }
        for child in flow.flows.values.sorted(by: { $0.name < $1.name }) { check(child) }
        checkLinks()
    }

    /// YAML forbids a key to stand twice; a builder has to be told.
    mutating func checkUniqueness(of screens: [Flow.Screen]) {
        var names = Set<String>()
        for screen in screens where !names.insert(screen.name).inserted {
            report("screen '\(screen.name)' is declared twice; remove one", at: "screens.\(screen.name)")
        }
    }

    mutating func report(_ message: String, at place: String) {
        problems.append(Problem(place: place, message: message))
    }

    mutating func checkScreen(_ name: String, at place: String) {
        guard flow.screens[name] == nil else { return }
        report("unknown screen '\(name)'; \(Spelling.advice(for: name, among: flow.screens.keys))", at: place)
    }

    mutating func checkCommand(_ type: String, at place: String) {
        guard !Self.isType(type, ofKinds: ["command"]) else { return }
        report("'\(type)' is not the type of a command; write command.NAME", at: place)
    }

    /// Checks every template in a value.
    mutating func checkTemplates(in value: JSONValue, at place: String) {
        switch value {
        case .string(let source): checkTemplate(source, at: place)
        case .array(let elements): for element in elements { checkTemplates(in: element, at: place) }
        case .object(let members):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                checkTemplates(in: member, at: "\(place).\(name)")
            }
        default: break
        }
    }

    mutating func checkTemplate(_ source: String, at place: String) {
        if isRequest { return }
        do {
            let template = try Template(source)
            for screen in template.screens { checkScreen(screen, at: place) }
            if template.refersToAnswer, !allowsAnswer {
                report("there is no answer here; only 'do' and 'rejected' of a rule with a guard have one", at: place)
            }
        } catch {
            report(error.description, at: place)
        }
    }

    static func isType(_ type: String, ofKinds kinds: [String]) -> Bool {
        let parts = type.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count >= 2 && kinds.contains(String(parts[0])) && parts.allSatisfy { !$0.isEmpty }
    }
}
