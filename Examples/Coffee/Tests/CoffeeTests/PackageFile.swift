import Foundation

/// A file of this package, wherever the tests are started from.
enum PackageFile {
    static func path(_ name: String, from file: String = #filePath) -> String {
        URL(filePath: file).appending(path: "../../../\(name)").standardizedFileURL.path
    }
}
