internal import Support

/// The ids of the messages that are sent because of another message.
///
/// They are derived from the id of the causing message. A replay, and a host that was killed and handles a message
/// again, therefore give the same id to the same message. The causing id is unique, so an id that appends to it has no
/// collisions, needs no computation and can be read in a journal. A hash would have none of these advantages.
public enum DerivedID {
    /// The maximum length of a cause's id in bytes; a longer id is shortened. A chain of rules that answer each other's
    /// commands would otherwise make ids grow without limit, and foreign clients may send ids of any length.
    private static let longest = 96

    /// Derives an id.
    ///
    /// - Parameters:
    ///   - cause: The id of the causing message.
    ///   - platform: The platform that sends the message, because several platforms may react to one cause.
    ///   - name: A name that is unique among the messages that the platform sends for this cause.
    /// - Returns: Always the same id for the same three values. Other values give other ids, except for collisions of a
    ///   64-bit hash if `cause` had to be shortened.
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

    /// True if `make(from:platform:name:)` derived the id from this cause. The sender of such a message sends the same
    /// message again if it receives the cause again.
    public static func isDerived(_ id: String, from cause: String) -> Bool {
        id.hasPrefix("\(shortened(cause)).")
    }

    /// The cause's id, or a beginning of it with a hash of the whole. The beginning contains the random part of the
    /// first id in the chain.
    private static func shortened(_ cause: String) -> String {
        guard cause.utf8.count > longest else { return cause }
        var hash = FNV1a()
        hash.combine(cause)
        return String(String.UnicodeScalarView(cause.unicodeScalars.prefix(longest / 2))) + "~" + hash.hexadecimal
    }
}
