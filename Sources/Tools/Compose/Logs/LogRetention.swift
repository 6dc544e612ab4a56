/// How much of a log is kept.
package struct LogRetention: Sendable, Equatable {
    /// In bytes; a file that would grow beyond it is followed by a new one.
    package var fileSize: Int
    /// How many files, the one that is written to among them.
    package var files: Int

    package init(fileSize: Int = 10 << 20, files: Int = 3) {
        self.fileSize = max(fileSize, 1)
        self.files = max(files, 1)
    }
}
