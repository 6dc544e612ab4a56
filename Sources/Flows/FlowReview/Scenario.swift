package import Navigation
package import Support

/// A scenario: the test of a flow. It lists acts in order, such as messages, and for each act the expected changes.
package struct Scenario: Hashable, Sendable {
    /// The name of the file in outcomes.
    package let file: String
    package let steps: [Step]

    /// Runs the scenario in a new session.
    ///
    /// - Parameter keepsGoing: True to continue after a step that failed.
    /// - Returns: The outcomes of the steps, up to the first step that failed or, if `keepsGoing` is true, of all
    ///   steps.
    package func play(on flow: Flow, keepsGoing: Bool = false) -> [Outcome] {
        var run = ScenarioRun(of: flow)
        var outcomes: [Outcome] = []
        for step in steps {
            outcomes.append(run.perform(step))
            if !keepsGoing, outcomes.last?.failures.isEmpty == false { break }
        }
        return outcomes
    }

    /// A step of a scenario.
    package struct Step: Hashable, Sendable {
        package let position: Position
        /// The act, such as a message that is sent.
        package let act: Act
        /// The expected changes. Nil if any changes are allowed.
        package let expectation: Expectation?
    }

    /// A position in the scenario's file.
    package struct Position: Hashable, Sendable {
        /// The line, from 1.
        package let line: Int
        /// The column in the line, from 1.
        package let column: Int
    }

    /// The act of a step. A screen name refers to the last instance of the screen to which the act can apply.
    package enum Act: Hashable, Sendable {
        /// The session is in a state with these screens. Only the first step can be this act.
        case begin(Flow.Link.Target)
        /// A message is sent.
        case send(Message)
        /// The user goes back from a screen or an instance; nil means the screen in front.
        case back(String?)
        /// The user dismisses a presentation; nil means the topmost.
        case dismiss(String?)
        /// The user presses a button of the alert or dialog in front.
        case answer(String)
        /// The user selects a tab.
        case tab(String)
        /// The view has animated out a leaving screen or instance; nil means all of them.
        case gone(String?)
        /// The deadline of the guard that waits has passed.
        case expire
        /// The coordinator starts again, and continues from the stored state.
        case restart

        /// The key of the act in a file.
        enum Word: String, CaseIterable {
            case begin, send, back, dismiss, answer, tab, gone, expire, restart

            /// The act that the key alone describes. Nil if the key needs a value.
            var bare: Act? {
                switch self {
                case .back: .back(nil)
                case .dismiss: .dismiss(nil)
                case .gone: .gone(nil)
                case .expire: .expire
                case .restart: .restart
                case .begin, .send, .answer, .tab: nil
                }
            }
        }
    }

    /// A message that is sent.
    package struct Message: Hashable, Sendable {
        /// The type, such as `event.LaunchFinished`.
        package let type: String
        package var data: JSONValue = [:]
        /// The name of the screen, or the id of the instance, that sends it. Nil if no screen does.
        package var from: String?
        /// The platform of the sender. Nil for the flow's platform if ``from`` is set, otherwise for no platform.
        package var platform: String?
        /// The message that caused it: an id, or a type for the last message of that type. Nil if there is none.
        package var causedBy: String?
        /// The time since the beginning of the scenario. Nil for the time of the step before.
        package var at: Duration?

        package init(
            type: String, data: JSONValue = [:], from: String? = nil, platform: String? = nil, causedBy: String? = nil,
            at: Duration? = nil
        ) {
            (self.type, self.data, self.from) = (type, data, from)
            (self.platform, self.causedBy, self.at) = (platform, causedBy, at)
        }
    }

    /// The expected changes of a step.
    package struct Expectation: Hashable, Sendable {
        /// The keys of expectations in a file.
        enum Word: String, CaseIterable {
            /// Changes that are not listed must not happen, except for derived aspects.
            case expect
            /// Other changes may happen, too.
            case includes
        }

        /// The position in the file.
        package let position: Position
        let word: Word
        /// The expected values by aspect.
        package let stated: [Aspect: Stated]
    }

    /// The expected value of an aspect.
    package struct Stated: Hashable, Sendable {
        /// The position in the file.
        package let position: Position
        /// The expected list, or the expected lists by name.
        package let value: JSONValue
    }

    /// An aspect of a step's outcome, which a scenario can expect.
    package enum Aspect: String, Hashable, Sendable, CaseIterable {
        case root
        /// The screen in front.
        case top
        /// The path beneath all presentations.
        case path
        /// The presentations, from the lowest one.
        case presented
        /// The stacks in the columns of a split root, by the columns' names.
        case columns
        /// The selected tab.
        case tab
        /// The stacks of the tabs, by the tabs' names.
        case tabs
        /// The instances that the program has dismissed and the view may still be animating out.
        case leaving
        /// The runs of child flows.
        case runs
        /// The message that waits for the answer to a guard.
        case attempt
        /// The messages that are held back while a guard waits for its answer.
        case queue
        /// The times of the rules that wait, such as `3s`.
        case waits
        /// The URL of the parked deep link.
        case parked
        /// The types of the commands that may be sent by the screens on which the user can act.
        case commands
        /// The commands that are sent.
        case sent
        /// The URLs that are opened.
        case opened
        /// The instances that are dismissed in this step.
        case dismissed
        /// The reasons why messages are discarded.
        case discarded
        /// The reasons why a rule could not be applied.
        case failed

        /// True if the aspect follows from other aspects, so that a scenario need not list it.
        var isDerived: Bool { [.top, .commands, .waits].contains(self) }

        /// True if the aspect lists effects of the step. Other aspects describe the state after the step.
        var isEffect: Bool { [.sent, .opened, .dismissed, .discarded, .failed].contains(self) }

        /// True if the expected value has lists by name.
        var isNamed: Bool { self == .columns || self == .tabs }
    }

    /// The outcome of a step.
    package struct Outcome: Hashable, Sendable {
        /// The number of the step in the scenario, from 1.
        package let number: Int
        package let step: Step
        /// The messages to which the act was converted.
        package let messages: [Machine.Input]
        /// The places of the rules, parts of guards and links that were applied, if the flow's machines tell them.
        package let applied: [String]
        /// The happenings of the step, for a person.
        package let words: OutcomeWords
        /// The changed aspects with their new values, and the effects.
        package let changes: [Aspect: JSONValue]
        /// The differences from the expected changes or from a recording, or the reason why the act was impossible.
        /// Empty if there are none.
        package let failures: [Failure]
    }

    /// A difference between the outcome of a step and the expected or recorded changes, or an act that was impossible.
    package struct Failure: Hashable, Sendable {
        /// The position of the expectation in the file, or of the step if the act was impossible or comes from a
        /// recording.
        package let position: Position
        /// The aspect that differs. Nil if the act was impossible, or if no aspect describes the difference.
        package let aspect: Aspect?
        /// The difference, or the reason why the act was impossible, in words.
        package let message: String
        /// The expected or recorded value. Nil if there is none.
        package let expected: JSONValue?
        /// The actual value. Nil if there is none.
        package let found: JSONValue?
    }
}

extension Scenario.Outcome: CustomStringConvertible {
    /// The number of the step, its messages and its changes in one line.
    package var description: String {
        let messages = messages.map { input in
            input.type + (input.sender.map { " of \($0)" } ?? "")
        }
        let act =
            switch step.act {
            case _ where !failures.isEmpty: "the step is not possible"
            case .begin: "the session begins in this state"
            case .restart: "the coordinator starts again"
            default: "the step is not possible"
            }
        let happened = messages.isEmpty ? act : messages.joined(separator: ", ")
        return "\(number). \(happened): \(words)"
    }

    /// The description, followed by the failures.
    ///
    /// - Parameter file: The name of the scenario's file.
    package func lines(in file: String) -> [String] { [description] + failures.flatMap { $0.lines(in: file) } }

    /// The outcome as JSON.
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
    /// Returns the position and the message, followed by the expected value and the actual value as in a diff.
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
    /// The instance that sent the message, otherwise the instance in the message's data. Nil if there is none.
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
