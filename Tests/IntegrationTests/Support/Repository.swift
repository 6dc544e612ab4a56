import Foundation

/// The files of this package that tests read.
enum Repository {
    static func path(_ relative: String) -> String {
        URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../\(relative)").standardizedFileURL.path
    }
}
