import Foundation

/// The paths of files of this package, independent of the working directory.
enum PackageFile {
    static func path(_ name: String, from file: String = #filePath) -> String {
        URL(filePath: file).appending(path: "../../../\(name)").standardizedFileURL.path
    }
}
