internal import CSegueVersion

/// The text that `segue --version` prints.
package enum Version {
    private static let number = "0.1.0"

    /// The version, and in an installed program its commit, as in `0.1.0 (6c110f7a0bc1)`.
    package static var description: String {
        let commit = String(cString: segue_commit)
        return "\(number) (\(commit.isEmpty ? "development build" : commit))"
    }
}
