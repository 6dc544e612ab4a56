internal import ArgumentParser

extension CompletionShell {
    /// JSON as the shell that asks takes an offered word.
    static func quoted(_ json: String) -> String {
        switch requesting {
        // Bash expands what it is offered, and quotes what comes of it by itself: the script says that they are files.
        case .bash: json.map { $0.isLetter || $0.isNumber ? "\($0)" : "\\\($0)" }.joined()
        // Zsh quotes by itself, and takes what follows a colon for a description.
        case .zsh: json.replacing(":", with: "\\:")
        default: json
        }
    }
}
