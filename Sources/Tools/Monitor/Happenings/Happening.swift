package import Foundation

/// One thing that happened, for a person: a tap, the results of a service, a change of the screens of a platform.
///
/// A happening is made of the messages that one process has published because of one message.
package struct Happening: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The message that a story begins with, with its manner in one word, such as `tap` or `launch`.
        case origin(String)
        /// The results of a service.
        case service
        /// A change on a platform, or something else that its coordinator has published.
        case navigation
        /// A failure.
        case error
        /// The error banner was shown or hidden.
        case banner
        /// A process has started or ended.
        case process

        /// The manner in one word. Empty if the actor says enough.
        package var manner: String {
            switch self {
            case .origin(let manner): manner
            case .error: "error"
            case .banner: "banner"
            case .process: "process"
            case .service, .navigation: ""
            }
        }
    }

    package let kind: Kind
    /// The correlation id of the messages.
    package let story: String
    /// True if the story begins with this happening.
    package let beginsStory: Bool
    /// The session of the messages.
    package let session: String
    /// The time of the first message.
    package let time: Date
    /// The time since the first message of the story; negative if the clocks of two machines differ. Nil for the first
    /// message, and if it is not known.
    package let sinceStart: Duration?
    /// The process, platform or screen from which the messages come: `brewer`, `mac`, `ios list-1`.
    package let actor: String
    /// What has happened, in words.
    package internal(set) var parts: [String]
    /// The file and line of the rule that led to the change: `mac.yaml:36`. Nil if no rule is known.
    package internal(set) var rule: String?
    /// The key of that rule or link in its flow: `transitions[3]`. Nil if the change did not come from one.
    package internal(set) var ruleKey: String?
    /// The id of the message because of which the process has published the first message. Nil if there is none.
    package internal(set) var cause: String?
    /// The ids of the messages, in order.
    package internal(set) var messages: [String]

    /// The end of ``story``. For an id of the form PROCESS-NUMBER, it is the end of PROCESS and the number.
    package var shortStory: String {
        let scalars = Array(story.unicodeScalars)
        let number = scalars.suffix(8).lastIndex(of: "-").map { scalars.count - $0 } ?? 2
        return String(String.UnicodeScalarView(scalars.suffix(number + 6)))
    }

    /// The parts on one line.
    package var words: String { parts.joined(separator: " · ") }
}
