internal import Monitor

extension Recording {
    /// The recording in a file, or for `-` what standard input has up to its end.
    ///
    /// A recording is read more than once, a pipe only once: so that is copied to a file first.
    /// - Throws: ``CommandError`` when standard input cannot be read, or not be copied.
    init(argument: String) async throws {
        self.init(path: argument, copy: argument == "-" ? try await StandardInput.copy() : nil)
    }
}
