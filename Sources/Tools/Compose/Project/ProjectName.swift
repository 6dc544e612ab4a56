import Foundation

/// Which project a command means.
package enum ProjectName {
    static let rule = "use lower-case letters, digits, '-' and '_', beginning with a letter or digit"

    /// The rule of the compose specification.
    package static func isValid(_ name: String) -> Bool {
        name.wholeMatch(of: #/[a-z0-9][a-z0-9_-]*/#) != nil
    }

    /// The name given by flag, else the file's own, else that of the folder, made valid as compose does.
    ///
    /// - Throws: ``ComposeError`` `invalid-project-name`.
    package static func resolve(flag: String?, file: String? = nil, directory: String) throws(ComposeError) -> String {
        if let name = flag ?? file {
            guard isValid(name) else { throw invalid(name) }
            return name
        }
        let folder = URL(fileURLWithPath: directory).lastPathComponent
        let normalized = folder.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
        let name = String(normalized.drop { "-_".contains($0) })
        guard isValid(name) else { throw invalid(folder) }
        return name
    }

    private static func invalid(_ name: String) -> ComposeError {
        ComposeError(
            code: "invalid-project-name",
            message: "'\(name)' is not a project name",
            recovery: "\(rule), with -p NAME or 'name:' in the file"
        )
    }
}
