import Foundation

extension Repository {
    /// What tests are called in prose, also in the cases that every transport runs.
    static func testNames(in folder: String = "") throws -> Set<String> {
        let directory = path("Tests/\(folder)")
        let files = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        return try files.filter { $0.hasSuffix(".swift") }.reduce(into: []) { names, file in
            let source = try String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8)
            names.formUnion(source.matches(of: #/(?:@Test|ConformanceCase)\(\s*"([^"]+)"/#).map { String($0.1) })
        }
    }
}
