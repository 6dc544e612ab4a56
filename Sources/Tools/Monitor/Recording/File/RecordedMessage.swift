package import EventBus

/// A message of a recording, and where it stands in it.
package struct RecordedMessage: Hashable, Sendable {
    /// Which message of the recording it is, from 1.
    package let number: Int
    /// The line of the file, from 1.
    package let line: Int
    package let message: Envelope

    package init(number: Int, line: Int, _ message: Envelope) {
        self.number = number
        self.line = line
        self.message = message
    }
}
