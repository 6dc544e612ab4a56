public import Foundation

/// Times on the wire: RFC 3339, in UTC, with milliseconds.
public enum Timestamp {
    private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    public static func text(of date: Date) -> String {
        date.formatted(style)
    }

    /// Reads a time with or without a fraction of a second; nil if it is neither.
    public static func date(from text: String) -> Date? {
        (try? style.parse(text)) ?? (try? Date.ISO8601FormatStyle().parse(text))
    }
}
