/**
 * Tests over the repository as a whole: its pages, the order of its packages, lists that its sources have to agree
 * with.
 */
package org.udckpt.repository;
