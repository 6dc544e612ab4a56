extension Scenario {
    /// Something that happens, and what shall come of it.
    public struct Step: Hashable, Sendable {
        /// Where it begins in the file.
        public let position: Position
        /// What happens.
        public let act: Act
        /// What shall come of it; nil leaves that open.
        public let expectation: Expectation?
    }

    /// A place in a scenario's file.
    public struct Position: Hashable, Sendable {
        /// The line, from 1.
        public let line: Int
        /// The column in the line, from 1.
        public let column: Int
    }

    /// What happens in a step. A screen stands for its frontmost instance.
    public enum Act: Hashable, Sendable {
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
    public struct Message: Hashable, Sendable {
        /// Its type, such as `event.LaunchFinished`.
        public let type: String
        /// What it carries.
        public var data: JSONValue = [:]
        /// The screen or the instance that it comes from.
        public var from: String?
        /// The platform that it comes from; without one, that of ``from``.
        public var platform: String?
        /// The message that it answers: its identifier, or the type of the last such message.
        public var causedBy: String?
        /// When it is sent, counted from the beginning; without, at the time of the step before.
        public var at: Duration?
    }

    /// What shall come of a step: all of it, for what is not said must not happen.
    public struct Expectation: Hashable, Sendable {
        /// Where it stands in the file.
        public let position: Position
        /// What is said of each aspect.
        public let stated: [Aspect: Stated]
    }

    /// What is said of an aspect.
    public struct Stated: Hashable, Sendable {
        /// Where it stands in the file.
        public let position: Position
        /// What is expected: a list, or lists by name.
        public let value: JSONValue
    }
}
