/** The bundles of the packages in a clone's lockfile (bundles.mjs). */
export declare function bundlesOf(root: string): { folder: string; flag: string }
