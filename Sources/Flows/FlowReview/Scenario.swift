package import Navigation
package import Support

/// A story that is told to a flow, message by message, and what shall come of each: the test of a flow.
package struct Scenario: Hashable, Sendable {
    /// The name of its file, as outcomes call it.
    package let file: String
    /// What happens, in order.
    package let steps: [Step]

    /// Tells the story to a session that begins with it.
    ///
    /// - Parameters:
    ///   - flow: The flow.
    ///   - keepsGoing: Whether it goes on after a step that did not lead to what was expected.
    /// - Returns: What came of each step, up to the first that failed unless it keeps going.
    package func play(on flow: Flow, keepsGoing: Bool = false) -> [Outcome] {
        var run = ScenarioRun(of: flow)
        var outcomes: [Outcome] = []
        for step in steps {
            outcomes.append(run.take(step))
            if !keepsGoing, outcomes.last?.failures.isEmpty == false { break }
        }
        return outcomes
    }

    /// Something that happens, and what shall come of it.
    package struct Step: Hashable, Sendable {
        /// Where it begins in the file.
        package let position: Position
        /// What happens.
        package let act: Act
        /// What shall come of it; nil leaves that open.
        package let expectation: Expectation?
    }

    /// A place in a scenario's file.
    package struct Position: Hashable, Sendable {
        /// The line, from 1.
        package let line: Int
        /// The column in the line, from 1.
        package let column: Int
    }

    /// What happens in a step. A screen stands for its frontmost instance.
    package enum Act: Hashable, Sendable {
        /// A message is sent.
        case send(Message)
        /// The user goes back from a screen or an instance; nil is what is in front.
        case back(String?)
        /// The user takes a presentation away; nil is the topmost.
        case dismiss(String?)
        /// The user presses a button of the alert or dialog.
        case answer(String)
        /// The user selects a tab.
        case tab(String)
        /// The view has animated out a screen or an instance that was leaving; nil is all that is.
        case gone(String?)
        /// No answer has come to the guard that waits.
        case expire

        /// The word for it in a file.
        enum Word: String, CaseIterable {
            case send, back, dismiss, answer, tab, gone, expire

            /// What it is when nothing more is said.
            var bare: Act? {
                switch self {
                case .back: .back(nil)
                case .dismiss: .dismiss(nil)
                case .gone: .gone(nil)
                case .expire: .expire
                case .send, .answer, .tab: nil
                }
            }
        }
    }

    /// A message that is sent.
    package struct Message: Hashable, Sendable {
        /// Its type, such as `event.LaunchFinished`.
        package let type: String
        /// What it carries.
        package var data: JSONValue = [:]
        /// The screen or the instance that it comes from.
        package var from: String?
        /// The platform that it comes from; without one, that of ``from``.
        package var platform: String?
        /// The message that it answers: its identifier, or the type of the last such message.
        package var causedBy: String?
        /// When it is sent, counted from the beginning; without, at the time of the step before.
        package var at: Duration?
    }

    /// What shall come of a step: all of it, for what is not said must not happen.
    package struct Expectation: Hashable, Sendable {
        /// Where it stands in the file.
        package let position: Position
        /// What is said of each aspect.
        package let stated: [Aspect: Stated]
    }

    /// What is said of an aspect.
    package struct Stated: Hashable, Sendable {
        /// Where it stands in the file.
        package let position: Position
        /// What is expected: a list, or lists by name.
        package let value: JSONValue
    }

    /// What can be told of a step.
    package enum Aspect: String, Hashable, Sendable, CaseIterable {
        /// The root.
        case root
        /// The screen in front of all others.
        case top
        /// The root's path, or the selected tab's.
        case path
        /// What is presented, from the lowest.
        case presented
        /// The stacks in the columns of a split root, by the columns' names.
        case columns
        /// The selected tab.
        case tab
        /// The stacks of the tabs, by the tabs' names.
        case tabs
        /// What is dismissed and still animated out.
        case leaving
        /// The child flows that run.
        case runs
        /// The message of the rule whose guard waits.
        case attempt
        /// The messages that are held back meanwhile.
        case queue
        /// The URL of the deep link that cannot be followed yet.
        case parked
        /// What the screens that the user can act on may send.
        case commands
        /// The commands that are sent.
        case sent
        /// The URLs that are opened.
        case opened
        /// The instances whose work ends.
        case dismissed
        /// Why messages are discarded.
        case discarded
        /// Why a rule could not be applied.
        case failed

        /// Whether it follows from the others, so that it need not be expected for itself.
        var isDerived: Bool { self == .top || self == .commands }

        /// Whether it is what the step did, rather than how it left the state.
        var isEffect: Bool { [.sent, .opened, .dismissed, .discarded, .failed].contains(self) }

        /// Whether its lists have names.
        var isNamed: Bool { self == .columns || self == .tabs }
    }

    /// What came of a step.
    package struct Outcome: Hashable, Sendable {
        /// Which step of the scenario it was, from 1.
        package let number: Int
        /// The step.
        package let step: Step
        /// The messages that it came to.
        package let messages: [Machine.Input]
        /// What changed of the state, as it is now, and what was done.
        package let changes: [Aspect: JSONValue]
        /// How that differs from what was expected; empty when it does not, or nothing was.
        package let failures: [Failure]
    }

    /// A difference between what came of a step and what was expected.
    package struct Failure: Hashable, Sendable {
        /// Where the expectation stands in the file.
        package let position: Position
        /// What differs; nil when the step could not be taken.
        package let aspect: Aspect?
        /// The difference in a few words.
        package let message: String
        /// What was expected; nil when nothing was.
        package let expected: JSONValue?
        /// What came of it.
        package let found: JSONValue?
    }
}

extension Scenario.Outcome: CustomStringConvertible {
    /// The step in one line: what happened, and what has changed.
    package var description: String {
        let messages = messages.map { input in
            input.type + (input.sender.map { " of \($0)" } ?? "")
        }
        let changes = Scenario.Aspect.allCases.filter { !$0.isDerived }.compactMap { aspect in
            self.changes[aspect].map { "\(aspect.rawValue): \(ScenarioText.text(of: $0))" }
        }
        let happened = messages.isEmpty ? "nothing could happen" : messages.joined(separator: ", ")
        return "\(number). \(happened) → \(changes.isEmpty ? "nothing" : changes.joined(separator: "; "))"
    }

    /// The same for programs.
    package var json: JSONValue {
        .object(members: [
            ("step", .integer(number)),
            ("line", .integer(step.position.line)),
            ("column", .integer(step.position.column)),
            ("messages", .array(messages.map(\.json))),
            ("changes", .object(Dictionary(uniqueKeysWithValues: changes.map { ($0.rawValue, $1) }))),
            ("failures", .array(failures.map(\.json))),
        ])
    }
}

extension Scenario.Failure {
    /// Where and what, and beneath it what was expected and what came of it, as in a diff.
    ///
    /// - Parameter file: The name of the scenario's file.
    package func lines(in file: String) -> [String] {
        let name = aspect.map { "\($0.rawValue): " } ?? ""
        return ["\(file):\(position.line):\(position.column): \(message)"]
            + (expected.map { ["  - \(name)\(ScenarioText.text(of: $0))"] } ?? [])
            + (found.map { ["  + \(name)\(ScenarioText.text(of: $0))"] } ?? [])
    }

    var json: JSONValue {
        .object(members: [
            ("line", .integer(position.line)), ("column", .integer(position.column)),
            ("aspect", aspect.map { .string($0.rawValue) }), ("message", .string(message)),
            ("expected", expected), ("found", found),
        ])
    }
}

extension Machine.Input {
    /// The instance that it comes from or is about.
    fileprivate var sender: String? { attributes.instance ?? data["instance"]?.stringValue }

    fileprivate var json: JSONValue {
        .object(members: [
            ("id", .string(id)), ("type", .string(type)), ("data", data == [:] ? nil : data),
            ("platform", attributes.platform.map { .string($0) }),
            ("instance", attributes.instance.map { .string($0) }),
            ("causationID", attributes.causationID.map { .string($0) }),
        ])
    }
}

/// What is expected and what is found, in few words.
private enum ScenarioText {
    static func text(of value: JSONValue) -> String {
        switch value {
        case .array(let elements): "[\(elements.map { text(of: $0) }.joined(separator: ", "))]"
        case .object(let members): text(of: members)
        case .string(let text): text
        default: value.description
        }
    }

    private static func text(of members: [String: JSONValue]) -> String {
        if let reason = members["reason"]?.stringValue { return reason }
        let names = ["instance", "screen", "run", "type"]
        guard let name = names.compactMap({ members[$0]?.stringValue }).first else {
            let sorted = members.sorted { $0.key < $1.key }
            return "{\(sorted.map { "\($0): \(text(of: $1))" }.joined(separator: ", "))}"
        }
        let details = ["arguments", "data"].compactMap { members[$0]?.description }
        let others = ["container", "style", "title", "message", "path"].compactMap { key in
            members[key].map { "\(key): \(text(of: $0))" }
        }
        let inBrackets = others.isEmpty ? [] : ["(\(others.joined(separator: ", ")))"]
        return ([name] + details + inBrackets).joined(separator: " ")
    }
}
