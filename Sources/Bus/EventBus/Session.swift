/// One user's app: the subject of its messages.
public enum Session {
    /// The subject of a message that does not say otherwise.
    public static let `default` = "default"
}
