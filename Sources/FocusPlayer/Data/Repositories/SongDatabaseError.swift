/// Why the file of the song database cannot be used.
package struct SongDatabaseError: Error, Hashable, Sendable {
    /// Stable, dotted: `songs.unusable`.
    package let code = "songs.unusable"
    /// One line: what is wrong, and with which file.
    package let message: String
    /// One line: what to do about it.
    package let recovery = "Check the path and its permissions, or remove the file: it only holds copies."
}

extension SongDatabaseError: CustomStringConvertible {
    package var description: String { "\(message). \(recovery)" }
}
