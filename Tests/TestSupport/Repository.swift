internal import Foundation

/// The files of this package that tests read.
package enum Repository {
    /// - Parameter relative: a path from the root of the package.
    package static func path(_ relative: String) -> String {
        URL(filePath: #filePath).appending(path: "../../../\(relative)").standardizedFileURL.path
    }
}
