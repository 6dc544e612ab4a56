/// A line that is none of a recording.
package struct RecordingMistake: Hashable, Sendable {
    /// From 1.
    package let line: Int
    /// What is wrong, in a few words.
    package let reason: String
}
