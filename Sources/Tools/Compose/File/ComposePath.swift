import SystemPackage

/// A file or folder, as a person is told of it and as it is found.
struct ComposePath: Hashable, Sendable {
    /// Relative to where the person works, if it was named so.
    let shown: String
    let absolute: String

    init(shown: String, absolute: String) {
        self.shown = shown
        self.absolute = absolute
    }

    /// What this text means in a file that lies in this folder.
    func resolving(_ text: String) -> ComposePath {
        ComposePath(shown: Self.join(shown, text), absolute: Self.join(absolute, text))
    }

    var directory: ComposePath {
        ComposePath(
            shown: FilePath(shown).removingLastComponent().string,
            absolute: FilePath(absolute).removingLastComponent().string)
    }

    /// `path` itself if it is absolute.
    static func join(_ directory: String, _ path: String) -> String {
        FilePath(directory).pushing(FilePath(path)).lexicallyNormalized().string
    }
}
