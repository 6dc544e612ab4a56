internal import Support

/// The ids of the messages that are sent because of another message.
///
/// They are derived from the id of the causing message. Therefore a replay, and a host that handles a message again
/// after a crash, give the same id to the same message. A derived id begins with the id of its cause, or with the first
/// part of a long id, so a person who reads a journal can recognize the cause.
public enum DerivedID {
    /// The maximum length of a cause's id in bytes; a longer id is shortened. A chain of rules that answer each other's
    /// commands would otherwise make ids grow without limit.
    private static let longest = 96

    /// Derives an id.
    ///
    /// - Parameters:
    ///   - cause: The id of the causing message.
    ///   - platform: The platform that sends the message, because several platforms may react to one cause.
    ///   - name: A name that is unique among the messages that the platform sends for this cause.
    /// - Returns: The id; the same three values always give the same id.
    public static func make(from cause: String, platform: String, name: String) -> String {
        "\(shortened(cause)).\(platform).\(name)"
    }

    /// Derives an id that is the same for all processes that react to a cause with this message, so that their messages
    /// count as one message.
    ///
    /// ``isDerived(_:from:)`` is false for it, so a replay does not wait for this message. The process that sent it may
    /// not take part in the replay.
    public static func shared(from cause: String, name: String) -> String {
        "\(shortened(cause))~\(name)"
    }

    /// True if the id begins like the ids that `make(from:platform:name:)` derives from this cause. The sender of such
    /// a message sends the same message again if it receives the cause again.
    public static func isDerived(_ id: String, from cause: String) -> Bool {
        id.hasPrefix("\(shortened(cause)).")
    }

    /// The cause's id. If it is too long, the result is its beginning, `~` and a hash of the whole id.
    private static func shortened(_ cause: String) -> String {
        guard cause.utf8.count > longest else { return cause }
        var hash = FNV1a()
        hash.combine(cause)
        return String(String.UnicodeScalarView(cause.unicodeScalars.prefix(longest / 2))) + "~" + hash.hexadecimal
    }
}
