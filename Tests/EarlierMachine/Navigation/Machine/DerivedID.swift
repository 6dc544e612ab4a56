internal import Support

/// The ids of the messages that are sent because of another message.
///
/// They are derived from the id of the causing message, so the same cause gives the same ids again. A derived id begins
/// with the id of its cause, or with the first part of a long id.
public enum DerivedID {
    /// The maximum length of a cause's id in bytes. A longer id is replaced by its first characters and a hash.
    private static let longest = 96

    /// Derives an id.
    ///
    /// - Parameters:
    ///   - cause: The id of the causing message.
    ///   - platform: The platform that sends the message.
    ///   - name: A name that is unique among the messages that the platform sends for this cause.
    /// - Returns: The id; the same three values always give the same id.
    public static func make(from cause: String, platform: String, name: String) -> String {
        "\(shortened(cause)).\(platform).\(name)"
    }

    /// Derives an id that does not depend on the platform of the sender.
    ///
    /// ``isDerived(_:from:)`` is false for this id.
    public static func shared(from cause: String, name: String) -> String {
        "\(shortened(cause))~\(name)"
    }

    /// True if the id begins like the ids that `make(from:platform:name:)` derives from this cause.
    public static func isDerived(_ id: String, from cause: String) -> Bool {
        id.begins(with: "\(shortened(cause)).")
    }

    /// The cause's id. If it is too long, the result is its beginning, `~` and a hash of the whole id.
    private static func shortened(_ cause: String) -> String {
        guard cause.utf8.count > longest else { return cause }
        var hash = FNV1a()
        hash.combine(cause)
        return String(String.UnicodeScalarView(cause.unicodeScalars.prefix(longest / 2))) + "~" + hash.hexadecimal
    }
}
